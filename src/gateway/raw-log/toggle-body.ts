import { Failure } from '../../call/failure.ts'
import { isObject, readMessage } from '../../lib/message-shape.ts'
import { count } from '../../lib/number-format.ts'

const longestS = 7 * 24 * 3600

/** The body of `POST /v1/raw-log/toggle`. */
export interface Toggle {
  readonly enabled: boolean
  /** Milliseconds until the log switches itself off; null for never. */
  readonly forMs: number | null
}

/** Reads `{"enabled": true, "for_s": 600}`. Throws `invalid_request`, which names the wrong field. */
export function readToggle(text: string): Toggle {
  const content = text === '' ? {} : readMessage(text, isObject)
  if (content === null) {
    throw new Failure(
      'invalid_request',
      'The body is not JSON, or not a JSON object such as {"enabled":true}.',
    )
  }
  const { enabled, for_s: forS = null } = content as { enabled?: unknown; for_s?: unknown }
  if (typeof enabled !== 'boolean') {
    throw new Failure('invalid_request', `enabled must be true or false; got ${shown(enabled)}`)
  }
  if (forS === null) return { enabled, forMs: null }
  if (typeof forS !== 'number' || !(forS > 0 && forS <= longestS)) {
    const range = `a number of seconds above 0, ${count(longestS)} at most`
    throw new Failure('invalid_request', `for_s must be ${range}; got ${shown(forS)}`)
  }
  if (!enabled) throw new Failure('invalid_request', 'for_s goes with enabled: true alone.')
  return { enabled, forMs: Math.ceil(forS * 1000) }
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100)
}
