import type { ErrorBody } from '../../src/api/error-body.ts'
import { learnTime } from './dashboard-clock.ts'
import { DashboardError } from './dashboard-error.ts'

/** The dashboard answers a query within 5 s; the rest is for the network. */
const answerLimitMs = 8000
/** A stop waits for calls in flight, up to the gateway's drain time-out. Compressing takes minutes. */
const actionLimitMs = 600_000

/** A page of calls. */
export type { CallList as CallsAnswer } from '../../src/api/calls.ts'

/** Parses the text of an answer (default: `JSON.parse`). */
export type AnswerReader<Answer> = (text: string) => Answer

/**
 * Sends a GET request to the dashboard, and returns its answer. Rejects with `DashboardError`, or with the signal's
 * reason.
 */
export async function ask<Answer>(
  path: string,
  signal?: AbortSignal,
  read?: AnswerReader<Answer>,
): Promise<Answer> {
  return request<Answer>('GET', path, undefined, answerLimitMs, signal, read)
}

/** Sends a request that changes something, and returns its answer. Rejects with `DashboardError`. */
export function act<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  return request<Answer>(method, path, body, actionLimitMs)
}

async function request<Answer>(
  method: string,
  path: string,
  body: unknown,
  limitMs: number,
  signal?: AbortSignal,
  read: AnswerReader<Answer> = JSON.parse,
): Promise<Answer> {
  const limit = AbortSignal.timeout(limitMs)
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: jsonHeaders }
  let response: Response
  let answer: unknown
  const sentMs = Date.now()
  try {
    const either = signal === undefined ? limit : AbortSignal.any([limit, signal])
    response = await fetch(path, { method, signal: either, ...init })
    learnTime(response.headers.get('date'), sentMs, Date.now())
    const text = await response.text()
    answer = response.ok ? read(text) : errorIn(text)
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new DashboardError(
      limit.aborted ? 'The dashboard is taking too long to respond.' : 'The dashboard is not responding.',
    )
  }
  if (response.ok) return answer as Answer
  // The session has ended. After a reload, the page's own address serves the sign-in page.
  if (response.status === 401) location.reload()
  const error = (answer as Partial<ErrorBody> | null)?.error
  throw new DashboardError(error?.message ?? `The dashboard returned status ${response.status}.`, error)
}

/** Returns the parsed body of an error; null if it is no JSON, such as a proxy's page. */
function errorIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const jsonHeaders = { 'Content-Type': 'application/json' }
