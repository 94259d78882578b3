import { findKeys } from './key-scan.ts'

/** What stands where a credential stood. */
export const secretMark = '[secret]'
const markBytes = Buffer.from(secretMark)

/** Begin of an escape that may hide a letter. */
const jsonEscape = Buffer.from('\\u00')
const percent = 0x25
const hidden = /(?<!\\)\\+u00([2-7][\da-f])|%([2-7][\da-f])/gi

/**
 * Masks what looks like a credential of one of the main providers, or is announced as one (`api_key=…`,
 * `Bearer …`, the user of a URL, a private key …), in any text: JSON, URLs, messages, command lines. What is
 * written with escapes (`sk\u002d…`, `%2d`) is known all the same. `isCut`: the text's end is missing, so that
 * the beginning of a credential there counts, too.
 */
export function maskKeys(text: string, isCut = false): string {
  const bytes = Buffer.from(text)
  const masked = maskKeyBytes(bytes, isCut)
  return masked === bytes ? text : masked.toString()
}

/** {@link maskKeys} of UTF-8 bytes, or of bytes that hold such text in between; the same bytes if there is nothing. */
export function maskKeyBytes(bytes: Buffer, isCut = false): Buffer {
  if (bytes.includes(jsonEscape) || bytes.includes(percent)) {
    // Latin-1, as any byte survives it.
    const shown = Buffer.from(bytes.toString('latin1').replace(hidden, shownCharacter), 'latin1')
    const found = shown.length === bytes.length ? null : findKeys(shown, isCut)
    if (found !== null) return withMarks(shown, found)
  }
  const found = findKeys(bytes, isCut)
  return found === null ? bytes : withMarks(bytes, found)
}

/** The character behind an escape, but where it would end or change a string of JSON. */
function shownCharacter(escape: string, json: string | undefined, percent: string | undefined): string {
  const character = String.fromCharCode(Number.parseInt(json ?? percent ?? '', 16))
  return /[\w .~:/?#@!$&'()*+,;=<>{}[\]|^`-]/.test(character) ? character : escape
}

function withMarks(bytes: Buffer, found: readonly number[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let i = 0; i < found.length; i += 2) {
    parts.push(bytes.subarray(from, found[i]), markBytes)
    from = found[i + 1] ?? bytes.length
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}
