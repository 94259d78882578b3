import type { PayloadToolCall } from '../../api/raw-log.ts'
import { JsonScan, wantedPlaces } from '../../json/json-scan.ts'

/** A record whose JSON is no longer than this is passed on as it is. */
const longestRecord = 64 * 1024
/** Most characters of a long text that are sent: a whole number of base64's groups. */
const shownBytes = 64 * 1024

/** The members whose places in the JSON are needed. */
const places = wantedPlaces({ body: 0, text: 0, reasoning: 0, toolCalls: 0, tool_calls: 0, truncated: 0 })
const quote = 0x22

/** The offsets of a value, and the JSON that takes its place. */
interface Cut {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * A record's JSON as it is shown to those who watch: a long body is cut to the beginning of its text, as `truncated`
 * then says, and so are the texts that were put together from a stream.
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

/** A string's beginning, null if that is all of it; of any other value, the beginning of its text. */
function cutValue(bytes: Buffer, start: number, end: number): string | null {
  if (bytes[start] !== quote) {
    return JSON.stringify(bytes.toString('utf8', start, characterStart(bytes, start + shownBytes)))
  }
  const text = JSON.parse(bytes.toString('utf8', start, end)) as string
  if (text.length <= shownBytes) return null
  // Half a character is none.
  return JSON.stringify(text.slice(0, shownBytes).replace(/[\ud800-\udbff]$/, ''))
}

/** Tool calls are few, and only those that write files are long. */
function cutToolCalls(bytes: Buffer, start: number, end: number): string {
  const calls = JSON.parse(bytes.toString('utf8', start, end)) as PayloadToolCall[]
  let left = shownBytes
  return JSON.stringify(
    calls.map(({ id, name, arguments: args }) => {
      const text = args.slice(0, left)
      left -= text.length
      return { id, name, arguments: text.toWellFormed() }
    }),
  )
}

/** The place, or the start of the character in UTF-8 that lies across it. */
function characterStart(bytes: Buffer, place: number): number {
  let at = place
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}
