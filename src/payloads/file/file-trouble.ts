/** The system's word for what went wrong, e.g. `ENOENT`; empty where it is none of the system's. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Why the log at `filePath` cannot be written, in words for a person. */
export function troubleOf(filePath: string, error: unknown): string {
  const code = codeOf(error)
  const reason = error instanceof Error ? error.message : String(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') return `${filePath}: the disk is full`
  if (code === 'EROFS') return `${filePath}: the file system is read-only`
  if (code === 'EACCES' || code === 'EPERM') return `${filePath}: no right to write it (${reason})`
  return `${filePath}: ${reason}`
}
