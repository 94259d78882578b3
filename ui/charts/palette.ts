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

const groupColours = ['kind-1', 'kind-2', 'kind-3', 'kind-4', 'kind-5', 'kind-6'] as const

/** Groups of one picture; more could not be told apart by their colours. */
export const mostGroups = groupColours.length

/**
 * The colour of each of these groups, at most {@link mostGroups}. A name has its colour in every view; of two names with the
 * same one, the later in the alphabet takes the next that is free.
 */
export function coloursOf(names: readonly string[]): ReadonlyMap<string, ColourName> {
  const colours = new Map<string, ColourName>()
  const free = new Set<ColourName>(groupColours)
  for (const name of names.toSorted()) {
    const wanted = Math.floor(hashOf(name) * mostGroups)
    const inTurn = groupColours.map((_, at) => groupColours[(wanted + at) % mostGroups] ?? 'edge')
    const colour = inTurn.find((one) => free.has(one)) ?? 'edge'
    free.delete(colour)
    colours.set(name, colour)
  }
  return colours
}

/** From 0 up to 1: FNV-1a (draft-eastlake-fnv), 32 bits, of UTF-16 code units. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0
  return hash / 2 ** 32
}
