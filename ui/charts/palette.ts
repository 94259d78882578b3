/** Colours of tokens.css that charts are drawn with. */
export type ColourName =
  | 'accent'
  | 'first'
  | 'p50'
  | 'p99'
  | 'bad'
  | 'queue'
  | 'stream'
  | 'cost'
  | `kind-${1 | 2 | 3 | 4 | 5 | 6}`
  | 'edge'
  | 'quiet'
