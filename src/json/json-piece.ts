/** Reading pieces of JSON text that a {@link JsonPeek} found. Nothing here throws. */

const quote = 0x22
const backslash = 0x5c

/** The parsed text, or `undefined` where it is not JSON. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The piece's value, or `undefined` where it is not JSON. */
export function parsePiece(bytes: Buffer, start: number, end: number): unknown {
  return jsonOrUndefined(bytes.toString('utf8', start, end))
}

/** The piece's text where it is a string, else `null`. */
export function stringPiece(bytes: Buffer, start: number, end: number): string | null {
  if (bytes[start] !== quote) return null
  for (let i = start + 1; i < end; i++) {
    if (bytes[i] === backslash) {
      const text = parsePiece(bytes, start, end)
      return typeof text === 'string' ? text : null
    }
  }
  return bytes.toString('utf8', start + 1, end - 1)
}

/** The piece's value where it is a whole number that is not negative, else `null`. */
export function countPiece(bytes: Buffer, start: number, end: number): number | null {
  let count = 0
  for (let i = start; i < end; i++) {
    const digit = (bytes[i] ?? 0) - 0x30
    if (digit < 0 || digit > 9) {
      const parsed = parsePiece(bytes, start, end)
      return Number.isSafeInteger(parsed) && Number(parsed) >= 0 ? Number(parsed) : null
    }
    count = count * 10 + digit
  }
  return Number.isSafeInteger(count) ? count : null
}

/** Whether the bytes are exactly this ASCII text. */
export function isAscii(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false
  for (let i = 0; i < text.length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false
  return true
}
