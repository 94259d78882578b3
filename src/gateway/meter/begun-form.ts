/** The form of an answer by its first bytes: events, JSON, words, or only white space so far. */
export type BegunForm = 'events' | 'json' | 'words' | 'blank'

const fieldNames = ['data:', 'event:', 'id:', 'retry:', ':']
/** UTF-8's byte order mark, in Latin-1. */
const mark = '\xef\xbb\xbf'
/** Most bytes that are searched. */
const looked = 64
const longestName = 'event:'.length

/**
 * The form of an answer that begins with these bytes (WHATWG HTML §9.2.6; RFC 8259 §2); null while they fit
 * several forms.
 */
export function formBegunBy(bytes: Buffer): BegunForm | null {
  const at = bytes.findIndex((byte) => byte > 0x20)
  if (at < 0) return 'blank'
  const beginning = bytes.toString('latin1', at, at + looked)
  const text = beginning.startsWith(mark) ? beginning.slice(mark.length).trimStart() : beginning
  if (mark.startsWith(text)) return null
  if (text.startsWith('{') || text.startsWith('[')) return 'json'
  if (fieldNames.some((name) => text.startsWith(name))) return 'events'
  return text.length < longestName && fieldNames.some((name) => name.startsWith(text)) ? null : 'words'
}
