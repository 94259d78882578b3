import type { AlertMessage } from '../api/alerts.ts'
import type { Clock } from '../call/clock.ts'
import { codeOf } from '../lib/errors.ts'
import { STATUS_CODES, readAtMost } from '../lib/http/http.ts'
import { retryAfterMs } from '../lib/http/retry-after.ts'
import { type AlertReceiver, alertRequest } from './alert-request.ts'

/** Time limit from the first byte of the request to the head of the answer. */
export const sendLimitMs = 10_000
const waitsMs = [10_000, 60_000]
const longestWaitMs = 300_000
/** Most bytes of an answer that are read: a receiver gives its reason in a word, such as `invalid_payload`. */
const wordBytes = 200

/** The result of one try. */
interface TryResult {
  readonly isDelivered: boolean
  /** The text for the page, never with the address, even if the receiver repeats it. */
  readonly detail: string
  /** The pause in ms that the receiver asks for before the next try; null if its value makes no sense. */
  readonly retryMs: number | null
}

/** Tries up to three times. Never rejects but with the signal's reason. */
export async function sendAlert(
  receiver: AlertReceiver,
  message: AlertMessage,
  clock: Clock,
  signal: AbortSignal,
): Promise<TryResult> {
  for (let again = 0; ; again++) {
    const result = await tryAlert(receiver, message, clock, signal)
    signal.throwIfAborted()
    const waitMs = waitsMs[again]
    if (result.retryMs === null || waitMs === undefined) return result
    await clock.delay(Math.min(longestWaitMs, Math.max(waitMs, result.retryMs)), signal)
  }
}

/** Tries once, for at most ten seconds. Never rejects. */
export async function tryAlert(
  receiver: AlertReceiver,
  message: AlertMessage,
  clock: Clock,
  signal: AbortSignal,
): Promise<TryResult> {
  const over = new AbortController()
  const cancel = clock.after(sendLimitMs, () => over.abort())
  try {
    const { url, headers, body } = alertRequest(receiver, message, clock.wallTime())
    const options = { method: 'POST', headers, body, redirect: 'manual' } as const
    const answer = await fetch(url, { ...options, signal: AbortSignal.any([signal, over.signal]) })
    const { status, ok: isDelivered } = answer
    const word = isDelivered ? '' : await wordOf(answer, receiver)
    void answer.body?.cancel().catch(() => undefined)
    const isRedirect = status >= 300 && status < 400
    const why = isRedirect ? ': redirects are not followed' : word === '' ? '' : `: ${word}`
    const isPassing = status === 429 || status === 408 || status >= 500
    const askedMs = retryAfterMs(answer.headers.get('retry-after'), clock.wallTime()) ?? 0
    const detail = `${status} ${STATUS_CODES[status] ?? ''}${why}`
    return { isDelivered, detail, retryMs: isPassing ? askedMs : null }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : null
    const code = codeOf(cause) ?? codeOf(error)
    const why = typeof code === 'string' ? code : 'the connection broke'
    const detail = over.signal.aborted ? `no answer within ${sendLimitMs / 1000} s` : `no answer: ${why}`
    return { isDelivered: false, detail, retryMs: 0 }
  } finally {
    cancel()
  }
}

/** The word with which a receiver refuses; empty if it is no single word, or may repeat a part of the address. */
async function wordOf(answer: Response, { url }: AlertReceiver): Promise<string> {
  const text = await readAtMost(wordBytes, (answer.body ?? []) as AsyncIterable<Buffer>).catch(() => null)
  const [word = ''] = /^\w[\w .-]{0,60}$/.exec(text?.trim() ?? '') ?? []
  const isEcho = word.split(/[ .-]/).some((part) => part.length > 2 && url.includes(part))
  return isEcho ? '' : word
}
