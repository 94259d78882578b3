/**
 * The definitions of figures by name. A name means the same in every view. A view with another meaning passes its
 * own definition.
 */
const meanings: Readonly<Record<string, string>> = {
  'All in use': 'Share of time with every slot in use: new calls had to wait.',
  Between: 'Session time without a call in progress: tools, the user, or idle.',
  Cached: 'Share of input tokens that the upstream read from its cache.',
  'By model': 'Cost, tokens, cached input or calls of each model in this range.',
  'Cached input': 'Share of input tokens that the upstream read from its cache.',
  Calls: 'Calls that started in this range, whatever their outcome.',
  Change: 'Compared with the previous period of the same length.',
  Cost: 'Tokens times their price. Calls without a price are counted separately, never as $0.',
  Duration: 'Time from the first request of a session to the last byte of its responses.',
  'First token':
    'Time from sending a streamed call upstream to its first content, without the wait for a slot.',
  'In calls': 'Session time with at least one call in progress.',
  'In flight': 'Calls that hold a slot at the upstream.',
  'In use': 'Peak number of calls that held a slot.',
  Latency: 'Time from the request to the last byte of the response, including the wait for a slot.',
  'Latency distribution': 'Number of calls by duration: darker means more.',
  Median: 'Half of the calls are above, half below.',
  'Output speed': 'Output tokens per second after the first one.',
  'Per 1M tokens': 'Average cost of a million tokens, input and output as used.',
  'Per 1,000 calls': 'Cost of priced calls, divided by their number, times 1,000.',
  p50: 'The median: half of the calls were at least this fast.',
  p95: '95 of 100 calls were at least this fast.',
  p99: '99 of 100 calls were at least this fast.',
  Recorded: 'Calls saved to the database since the gateway started.',
  Requests: 'Calls that started in this range, whatever their outcome.',
  Result: 'The HTTP status sent to the client, and the outcome.',
  Share: 'Share of spend in this range.',
  'Slots and queue': 'Each call in flight holds a slot. When all are in use, new calls wait in the queue.',
  'Spend over time': 'Cost of priced calls, by start time.',
  'Time to first token':
    'Time from sending a streamed call upstream to its first content, without the wait for a slot.',
  Tokens: 'Input plus output tokens, as reported by the upstreams.',
  'Tokens in': 'Input tokens, including cached ones, as reported by the upstream.',
  'Tokens in 24 hours': 'Tokens used in the last 24 hours, and the limit if there is one.',
  'Tokens in / out': 'Input and output tokens of all calls in the session.',
  'Tokens out': 'Output tokens, including reasoning, as reported by the upstream.',
  Total: 'Time from the request to the last byte of the response.',
  'Wait p95': 'Time waiting for a slot: 95 of 100 calls waited no longer.',
  Waiting: 'Calls waiting for a slot.',
  'Why calls failed':
    'Calls that returned an error, were cut off, or were refused. A client that leaves is not a failure.',
}

/** Returns the attributes of an element that names a figure. A tooltip and the help show the meaning. */
export function explained(
  words: string,
  meaning: string | undefined = meanings[words],
): { readonly title?: string; readonly 'data-term'?: string } {
  return meaning === undefined ? {} : { title: meaning, 'data-term': words }
}

/** Returns the names of visible figures in order, each with the first meaning shown. */
export function termsShown(page: ParentNode): readonly (readonly [words: string, meaning: string])[] {
  const terms = new Map<string, string>()
  for (const element of page.querySelectorAll<HTMLElement>('[data-term]')) {
    const words = element.dataset['term'] ?? ''
    if (!terms.has(words) && element.checkVisibility()) terms.set(words, element.title)
  }
  return [...terms]
}
