import type { RawHeaders } from '../../call/response-head.ts'
import { contentCoding } from '../../lib/http/content-coding.ts'
import { readAnswerHead } from '../meter/answer-form.ts'
import { readError } from '../meter/read-error.ts'

/**
 * Codes of a 429 for a used-up quota, for which waiting does not help: OpenAI
 * (platform.openai.com/docs/guides/error-codes), Moonshot, DeepSeek.
 */
export const finalCodes: ReadonlySet<string> = new Set([
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_not_active',
  'exceeded_current_quota_error',
  'insufficient_balance',
])

/** Most bytes of a decoded refusal; refusals are short. */
const longestText = 1024 * 1024

/** True if the body of a 429 says that a retry is useless. */
export function isFinalRefusal(headers: RawHeaders, body: Buffer): boolean {
  try {
    const { coding } = readAnswerHead(headers)
    const text = coding === null ? body : contentCoding(coding)?.decode(body, longestText)
    const { code } = readError(JSON.parse((text ?? '').toString()), 429)
    return code !== null && finalCodes.has(code)
  } catch {
    // An unreadable body gives no reason.
    return false
  }
}
