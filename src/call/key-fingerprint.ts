/** True if a name has the form of a key's fingerprint: eight hexadecimal digits. */
export function isFingerprint(of: string): boolean {
  return /^[0-9a-f]{8}$/.test(of)
}
