/** The message of any thrown value. That of a system error about a file is in plain words. */
export function messageOf(caught: unknown): string {
  return fileFault(caught) ?? (caught instanceof Error ? caught.message : String(caught))
}

/** The value of a function; null if it throws. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}

/** The code of a system error, such as `ENOENT`; null if it has none. */
export function codeOf(caught: unknown): unknown {
  return caught instanceof Error && 'code' in caught ? caught.code : null
}

/** Returns null for the error of a missing file, and throws any other error. */
export function nullIfMissing(error: unknown): null {
  if (codeOf(error) !== 'ENOENT') throw error
  return null
}

/** The value of a function that uses a file; null if the file is missing. */
export function orNullIfMissing<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    return nullIfMissing(error)
  }
}

/** Facts of an error by name. Programs read them here, and not from the message. */
export type ErrorData = Readonly<Record<string, string>>

/** The data of an error beside its code and message. */
interface ErrorDetails {
  /** The parameter, setting or member of the body that is wrong. */
  readonly param?: string | null
  /** The last lines of the gateway's log. */
  readonly log?: readonly string[]
  /** Facts for programs, such as the instant `from` of `folded_range`. */
  readonly data?: ErrorData | null
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** The HTTP status; null for the code's usual status. */
  readonly status?: number | null
}

/** An error with a message for people, and a code that decides how the dashboard answers. */
export class CodedError<Code extends string = string> extends Error implements Required<ErrorDetails> {
  readonly code: Code
  readonly param: string | null
  readonly log: readonly string[]
  readonly data: ErrorData | null
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | null

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message)
    this.name = new.target.name
    this.code = code
    this.param = details.param ?? null
    this.log = details.log ?? []
    this.data = details.data ?? null
    this.headers = details.headers ?? {}
    this.status = details.status ?? null
  }
}

/** System errors in words: the reason and the remedy. */
const refusals: Readonly<Record<string, string>> = {
  EACCES: 'this user may not do that; run it as the user whose file it is',
  EPERM: 'this user may not do that; run it as the user whose file it is',
  EROFS: 'the file system is read-only; name a place elsewhere',
  ENOSPC: 'the disk is full; make room and try again',
  EDQUOT: 'the quota of the disk is used up; make room and try again',
  ENOENT: 'there is no such file or folder; create it, or name another',
  ENOTDIR: 'a part of this path is a file, not a folder; name another',
  EISDIR: 'this is a folder, not a file; name a file',
  EEXIST: 'something has that name already; name another',
  ELOOP: 'it leads through too many symbolic links; name another',
  ENAMETOOLONG: 'the name is too long; name a shorter one',
  ENXIO: 'this is not a regular file; name another',
  EMFILE: 'this process has too many files open; raise the limit (ulimit -n)',
  ENFILE: 'the system has too many files open; close some and try again',
}

/** The text of a system's error about a file, without its path: `the disk is full; … (ENOSPC)`. Null for any other error. */
export function systemText(error: unknown): string | null {
  const code = codeOf(error)
  const words = typeof code === 'string' ? refusals[code] : undefined
  return words === undefined ? null : `${words} (${String(code)})`
}

/** A system error about a file, in one line with its path; null for any other error. */
export function fileFault(error: unknown): string | null {
  const words = systemText(error)
  const path = (error as NodeJS.ErrnoException | null)?.path
  return path === undefined || words === null ? null : `${path}: ${words}`
}

/** Why something failed: {@link systemText} for a system error, else the error's own message. */
export function reasonOf(error: unknown): string {
  return systemText(error) ?? messageOf(error)
}
