import type { CallSort } from '../../src/call/call-reader.ts'
import type { Outcome } from '../../src/call/outcome.ts'
import type { CallType } from '../../src/call/call.ts'

export type { CallSort, CallType, Outcome }

/** The outcomes of calls, in words. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  ok: 'Succeeded',
  upstream_error: 'Upstream error',
  upstream_cut: 'Cut by upstream',
  client_disconnected: 'Client left',
  gateway_error: 'Gateway error',
  refused: 'Refused',
  interrupted: 'Interrupted',
}

/** Call types, in words. */
export const callTypeWords: Readonly<Record<CallType, string>> = {
  chat: 'Chat',
  embedding: 'Embedding',
  rerank: 'Rerank',
  props: 'Server properties',
  other: 'Other',
}

/** Names for the two directions of each order: largest first, then smallest first. */
export const sortWords: Readonly<Record<CallSort, readonly [largest: string, smallest: string]>> = {
  started_at: ['Newest', 'Oldest'],
  duration: ['Slowest', 'Fastest'],
  ttft: ['Slowest first token', 'Fastest first token'],
  cost: ['Most expensive', 'Cheapest'],
}

/** Returns the name of the order of an address. */
export function orderWords({ sort, rising }: { readonly sort: CallSort; readonly rising: boolean }): string {
  return sortWords[sort][rising ? 1 : 0]
}

/** The tabs of a call's panel: its figures, or its payloads. */
export const callTabWords = {
  timing: 'Summary',
  chat: 'Chat',
  request: 'Request',
  response: 'Response',
  headers: 'Headers',
  error: 'Error',
} as const

export type CallTab = keyof typeof callTabWords

/** Returns a check whether a text is a key of a table. */
export function isNameOf<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
): (text: string) => text is Name {
  return (text): text is Name => Object.hasOwn(table, text)
}

export const isOutcome = isNameOf(outcomeWords)
export const isCallType = isNameOf(callTypeWords)
export const isCallSort = isNameOf(sortWords)
export const isCallTab = isNameOf(callTabWords)
