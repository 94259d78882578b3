import type { PayloadToolCall } from '../../api/raw-log.ts'
import { JsonScan, wantedPlaces } from '../../json/json-scan.ts'

/** Most characters of a record's JSON that is passed on unchanged. */
const longestRecord = 64 * 1024
/** Bytes of a long text that are sent: a multiple of base64's groups. */
const shownBytes = 64 * 1024

/** The members whose places in the JSON are needed. */
const places = wantedPlaces({ body: 0, text: 0, reasoning: 0, toolCalls: 0, tool_calls: 0, truncated: 0 })
const quote = 0x22

/** The offsets of a value, and the JSON that replaces it. */
interface Cut {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * A record's JSON for the page. A long body is cut to the beginning of its text, and so are the texts of a
 * stream; `truncated` is then true.
 */
export function cutPayload(record: string): string {
  if (record.length <= longestRecord) return record
  const bytes = Buffer.from(record)
  const cuts: Cut[] = []
  let mark: Cut | null = null
  let isBodyCut = false
  const scan = new JsonScan(places, (path, _, start, end) => {
    if (path === 'truncated') mark = { start, end, text: 'true' }
    else if (end - start > shownBytes) {
      const isCalls = path === 'toolCalls' || path === 'tool_calls'
      const text = isCalls ? cutToolCalls(bytes, start, end) : cutValue(bytes, start, end)
      if (text === null) return
      cuts.push({ start, end, text })
      isBodyCut ||= path === 'body'
    }
  })
  scan.push(bytes)
  return replaced(bytes, isBodyCut && mark !== null ? [...cuts, mark] : cuts)
}

function replaced(bytes: Buffer, cuts: readonly Cut[]): string {
  let text = ''
  let from = 0
  for (const cut of cuts.toSorted((a, b) => a.start - b.start)) {
    text += bytes.toString('utf8', from, cut.start) + cut.text
    from = cut.end
  }
  return text + bytes.toString('utf8', from)
}

/** The beginning of a value as a JSON string; null for a string that is short enough. */
function cutValue(bytes: Buffer, start: number, end: number): string | null {
  if (bytes[start] !== quote) {
    return JSON.stringify(bytes.toString('utf8', start, characterStart(bytes, start + shownBytes)))
  }
  const text = JSON.parse(bytes.toString('utf8', start, end)) as string
  if (text.length <= shownBytes) return null
  // The cut may leave half of a surrogate pair at the end.
  return JSON.stringify(text.slice(0, shownBytes).replace(/[\ud800-\udbff]$/, ''))
}

/** Tool calls with shortened arguments. Parsing is fast enough, because tool calls are few and seldom long. */
function cutToolCalls(bytes: Buffer, start: number, end: number): string {
  const calls = JSON.parse(bytes.toString('utf8', start, end)) as PayloadToolCall[]
  let room = shownBytes
  return JSON.stringify(
    calls.map(({ id, name, arguments: args }) => {
      const text = args.slice(0, room)
      room -= text.length
      return { id, name, arguments: text.toWellFormed() }
    }),
  )
}

/** The place, or the start of the UTF-8 character that crosses it. */
function characterStart(bytes: Buffer, place: number): number {
  let at = place
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}
