/** The name of an entry of clients: a key's fingerprint in small letters, as calls have it, or a client's name as it is. */
export function entryName(of: string): string {
  const small = of.toLowerCase()
  return isFingerprint(small) ? small : of
}

/** True if a name has the form of a key's fingerprint: eight hexadecimal digits. */
export function isFingerprint(of: string): boolean {
  return /^[0-9a-f]{8}$/.test(of)
}
