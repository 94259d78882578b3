import type { RawHeaders } from '../call/call-observer.ts'
import { hopByHopHeaders } from '../lib/header-list.ts'

/** A request as one side of a hop saw it. */
export interface SeenRequest {
  readonly method: string
  readonly target: string
  /** As they came or went, hop-by-hop ones among them. */
  readonly headers: RawHeaders
  readonly body: Buffer
}

/** An answer as one side of a hop saw it. */
export interface SeenAnswer {
  readonly status: number
  readonly statusText: string
  readonly headers: RawHeaders
  readonly body: Buffer
  /** Whether the HTTP message ended as one that is whole. */
  readonly isComplete: boolean
  /** When which part of the body was there: milliseconds since the request was sent, bytes in all. */
  readonly arrivals: readonly { readonly atMs: number; readonly bytes: number }[]
}

export interface AnsweredExchange {
  readonly request: SeenRequest
  readonly answer: SeenAnswer
}

/** Each hop writes its own. */
const ofTheHop: ReadonlySet<string> = new Set([...hopByHopHeaders, 'host', 'content-length'])

/** The headers that are meant for the other end, as pairs. */
export function endToEnd(headers: RawHeaders): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    if (!ofTheHop.has(name.toLowerCase())) pairs.push([name, headers[i + 1] ?? ''])
  }
  return pairs
}
