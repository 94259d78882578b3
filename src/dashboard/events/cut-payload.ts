import type { PayloadToolCall } from '../../api/raw-log.ts'
import { JsonPeek } from '../../json/json-peek.ts'
import { compilePlaces } from '../../json/json-place.ts'

/** A record whose JSON is no longer than this is passed on as it is. */
const longestRecord = 64 * 1024
/** Of what is longer, each text keeps so many bytes of its JSON: a whole number of base64's groups. */
const keptBytes = 64 * 1024
/** Bytes of the longest escape, `\u0061`, and of the longest character in UTF-8. */
const longestEscape = 6

const slots = { body: 0, text: 1, reasoning: 2, toolCalls: 3, truncated: 4 } as const
const places = compilePlaces(
  Object.entries({ ...slots, tool_calls: slots.toolCalls }).map(([path, slot]) => ({
    path,
    slot,
    limit: Number.POSITIVE_INFINITY,
  })),
)
const quote = 0x22
const backslash = 0x5c

/** Where a value stands, and what stands there instead. */
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
  /** Of a record whose body is cut, where `truncated` stands. */
  const marks: Cut[] = []
  const cutSlots = new Set<number>()
  const peek = new JsonPeek(places, {
    value: (slot, _, start, end) => {
      if (slot === slots.truncated) marks.push({ start, end, text: 'true' })
      else if (end - start > keptBytes) {
        cutSlots.add(slot)
        const text = slot === slots.toolCalls ? cutToolCalls(bytes, start, end) : cutValue(bytes, start)
        cuts.push({ start, end, text })
      }
    },
    tooLong: () => {},
    close: () => {},
  })
  peek.push(bytes)
  return replaced(bytes, cutSlots.has(slots.body) ? [...cuts, ...marks] : cuts)
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

/** A string's beginning; of any other value, the beginning of its text. */
function cutValue(bytes: Buffer, start: number): string {
  if (bytes[start] === quote) return `${bytes.toString('utf8', start, cutEnd(bytes, start + 1))}"`
  return JSON.stringify(bytes.toString('utf8', start, characterEnd(bytes, start + keptBytes)))
}

/** They are few, and short but for what a model writes into a file. */
function cutToolCalls(bytes: Buffer, start: number, end: number): string {
  const calls = JSON.parse(bytes.toString('utf8', start, end)) as PayloadToolCall[]
  let left = keptBytes
  return JSON.stringify(
    calls.map(({ id, name, arguments: args }) => {
      const kept = args.slice(0, left)
      left -= kept.length
      return { id, name, arguments: kept.toWellFormed() }
    }),
  )
}

/** Where a string that begins here is cut: in no escape, and in no pair of them. */
function cutEnd(bytes: Buffer, start: number): number {
  let end = start + keptBytes
  // An even number of backslashes before it are whole escapes; one more begins one that may reach beyond.
  for (let at = end - 1; at > end - longestEscape && at >= start; at -= 1) {
    if (bytes[at] === backslash && backslashesBefore(bytes, at, start) % 2 === 0) {
      end = isWholeEscape(bytes, at, end) ? end : at
      break
    }
  }
  return beforeHighSurrogate(bytes, characterEnd(bytes, end), start)
}

function backslashesBefore(bytes: Buffer, at: number, start: number): number {
  let count = 0
  while (at - 1 - count >= start && bytes[at - 1 - count] === backslash) count += 1
  return count
}

function isWholeEscape(bytes: Buffer, at: number, end: number): boolean {
  const length = bytes[at + 1] === 0x75 ? longestEscape : 2
  return at + length <= end
}

/** `\ud83d` alone, whose other half was cut off, would be half a character. */
function beforeHighSurrogate(bytes: Buffer, end: number, start: number): number {
  const at = end - longestEscape
  if (at < start || bytes[at] !== backslash || backslashesBefore(bytes, at, start) % 2 === 1) return end
  return /^\\ud[89ab][\da-f]{2}$/i.test(bytes.toString('latin1', at, end)) ? at : end
}

/** The begin of the character in UTF-8 that lies across the place. */
function characterEnd(bytes: Buffer, end: number): number {
  let at = end
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}
