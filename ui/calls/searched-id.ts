/** Whether a text is the id of a call: eleven digits of Crockford's base32 that stand for at most 53 bits. */
export function isCallId(text: string): boolean {
  return /^[0-7][0-9a-hjkmnp-tv-z]{10}$/.test(text)
}
