const quote = 0x22
const colon = 0x3a
const zero = 0x30
const nine = 0x39

/**
 * Whether a JSON object holds numbers and all of them are zero. Said of its text, without parsing: it is asked
 * of every event of a stream that reports usage as it goes, and mostly answered by the first number.
 */
export function onlyZeros(bytes: Buffer, start: number, end: number): boolean {
  let sawZero = false
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0
    if (byte === quote) {
      const close = bytes.indexOf(quote, i + 1)
      if (close < 0 || close >= end) return false
      i = close + 1
      while (i < end && (bytes[i] ?? 0) <= 0x20) i++
      // Only a key may be text.
      if (bytes[i] !== colon) return false
    } else if (byte > zero && byte <= nine) return false
    else if (byte === zero) sawZero = true
  }
  return sawZero
}
