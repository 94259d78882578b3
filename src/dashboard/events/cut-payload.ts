import type { OutgoingRecord, PayloadRecord } from '../../api/raw-log.ts'
import { cutText } from '../../lib/cut-text.ts'

/** Most characters of a record's JSON that is passed on unchanged, and of a text in a longer one: a multiple of base64's groups. */
const longest = 64 * 1024

/**
 * A record's JSON for the page. A long body is cut to the beginning of its text, and so are the texts of a
 * stream; `truncated` is then true.
 */
export function cutPayload(json: string): string {
  if (json.length <= longest) return json
  const record = JSON.parse(json) as PayloadRecord & Partial<OutgoingRecord>
  const { body, truncated, text, reasoning, tool_calls: calls } = record
  const cutBody = cut(body)
  let room = longest
  return JSON.stringify({
    ...record,
    body: cutBody,
    truncated: truncated || cutBody !== body,
    text: cut(text),
    reasoning: cut(reasoning),
    tool_calls: calls?.map((call) => {
      const args = call.arguments.slice(0, room)
      room -= args.length
      return Object.assign(call, { arguments: args.toWellFormed() })
    }),
  })
}

/** The value, or the beginning of its text if that is long. */
function cut(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return (text?.length ?? 0) > longest ? cutText(text, longest) : value
}
