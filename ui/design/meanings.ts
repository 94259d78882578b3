/** What the words for figures mean. The same word means the same everywhere; what differs is said where it stands. */
const meanings: Readonly<Record<string, string>> = {
  'All in use': 'Part of the time in which every slot was taken: whoever came then had to wait.',
  Between:
    'Time of a session in which none of its calls ran: the agent’s tools, its user, or nothing at all.',
  Cached: 'Part of the input tokens that the upstream read from its cache.',
  'By model': 'Which models the money, the tokens or the calls of this time went to.',
  'Cached input': 'Part of the input tokens that the upstreams read from their caches.',
  Calls: 'Calls that began in this time, however they ended.',
  Change: 'Against the time before, of the same length.',
  Cost: 'Tokens times their price. Calls without a price are counted beside it, never as nothing.',
  'First token':
    'From when the upstream was asked to the first content of its answer, of streamed calls; the wait for a slot is not in it.',
  'In calls': 'Time of a session in which at least one of its calls ran.',
  'In flight': 'Calls that hold a slot: the upstream works on them.',
  'In use': 'Calls that held a slot, at the busiest moment.',
  Latency: 'From the request to the last byte of its answer, with the wait for a slot.',
  'Latency distribution': 'How many calls took how long: the darker, the more.',
  Median: 'Half of the calls have more, half have less.',
  'Output speed': 'Output tokens per second after the first one.',
  'Per 1 M tokens': 'What a million tokens came to, input and output together as they were used.',
  'Per call': 'Cost of the calls that have a price, divided by their number.',
  p50: 'The median: half of the calls took no longer.',
  p95: '95 of 100 calls took no longer.',
  p99: '99 of 100 calls took no longer.',
  Recorded: 'Calls that are in the database, since the gateway’s start.',
  Requests: 'Calls that began in this time, of every kind and however they ended.',
  Result: 'The HTTP status that the client got, and how the call ended.',
  Share: 'Part of the spend of this time.',
  'Slots and queue':
    'A slot is the right to be in flight; the gateway has so many, and calls that find none free wait in the queue.',
  'Spend over time': 'Cost of the calls that have a price, by when they began.',
  'Time to first token':
    'From when the upstream was asked to the first content of its answer, of streamed calls; the wait for a slot is not in it.',
  Tokens: 'Input and output tokens together, as the upstreams counted them.',
  'Tokens in': 'Input tokens, cached ones among them, as the upstream counted them.',
  'Tokens in 24 hours': 'Tokens of any 24 hours, against their limit if there is one.',
  'Tokens in, out': 'Input and output tokens of all calls of the session.',
  'Tokens out': 'Output tokens, reasoning among them, as the upstream counted them.',
  Took: 'From the request of the first call of a session to the last byte of all its answers.',
  Total: 'From the request to the last byte of its answer.',
  'Wait p95': 'From when a call was read to when it had a slot: 95 of 100 calls waited no longer.',
  Waiting: 'Calls that wait for a slot at the same moment.',
  'Why calls failed':
    'Calls that were answered with an error, broke off, or were refused. A client that left is no failure.',
}

/** A word for a figure, and what it means. */
export interface Term {
  readonly words: string
  readonly meaning: string
}

/** Attributes of an element that stands for a figure: what it means is told when it is pointed at, and in the help. */
export function explained(
  words: string,
  meaning: string | undefined = meanings[words],
): { readonly title?: string; readonly 'data-term'?: string } {
  return meaning === undefined ? {} : { title: meaning, 'data-term': words }
}

/** The figures that are shown at this moment, in their order, each once: as it is explained first. */
export function termsShown(page: ParentNode): readonly Term[] {
  const found = new Map<string, Term>()
  for (const element of page.querySelectorAll<HTMLElement>('[data-term]')) {
    const words = element.dataset['term'] ?? ''
    if (!found.has(words) && element.checkVisibility()) found.set(words, { words, meaning: element.title })
  }
  return [...found.values()]
}
