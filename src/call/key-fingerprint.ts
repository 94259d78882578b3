/** True if a name is the fingerprint of a key, as the rows of its calls have it: eight hexadecimal digits. */
export function isFingerprint(of: string): boolean {
  return /^[0-9a-f]{8}$/.test(of)
}
