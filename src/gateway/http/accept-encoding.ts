import { remembered } from '../../lib/remembered.ts'

/** The content codings that the meter can read; `x-gzip` is gzip's old name (RFC 9110 §8.4.1.3). */
const readable: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'br', 'deflate', 'zstd', 'identity'])

/**
 * Keeps of an `Accept-Encoding` value (RFC 9110 §12.5.3) the codings that the meter can decode, with weights and order.
 * A value with only such codings is returned unchanged, byte for byte. `*` includes codings that may be
 * unreadable, so it is replaced by a list; if nothing remains, the value is `identity`.
 */
export const narrowAcceptEncoding: (value: string) => string = remembered((value) => {
  const members = value.split(',')
  if (members.every((member) => readable.has(codingOf(member)) || member.trim() === '')) return value
  const codings = new Set(members.map(codingOf))
  const narrowed = members.flatMap((member) => {
    const coding = codingOf(member)
    if (readable.has(coding)) return [member.trim()]
    if (coding !== '*') return []
    const weight = member.slice(member.indexOf('*') + 1).trim()
    return ['gzip', 'br', 'deflate', 'zstd']
      .filter((coding) => !codings.has(coding))
      .map((coding) => coding + weight)
  })
  return narrowed.length === 0 ? 'identity' : narrowed.join(', ')
})

function codingOf(member: string): string {
  const semicolon = member.indexOf(';')
  return (semicolon < 0 ? member : member.slice(0, semicolon)).trim().toLowerCase()
}
