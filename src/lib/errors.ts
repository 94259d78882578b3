/** The words of whatever was thrown. */
export function messageOf(caught: unknown): string {
  return caught instanceof Error ? caught.message : String(caught)
}

/** The code of a system's error, such as `ENOENT`; null for what has none. */
export function codeOf(caught: unknown): unknown {
  return caught instanceof Error && 'code' in caught ? caught.code : null
}

/** What an error tells beside its code and its words. */
interface ErrorDetails {
  /** The parameter, setting or member of the body that is wrong. */
  readonly param?: string | null
  /** The last lines of the gateway's log. */
  readonly log?: readonly string[]
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
  /** The status of the answer; null for that of the code. */
  readonly status?: number | null
}

/** An error with words for the person who asked, and a code that decides how the dashboard answers. */
export class CodedError<Code extends string = string> extends Error implements Required<ErrorDetails> {
  readonly code: Code
  readonly param: string | null
  readonly log: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly status: number | null

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message)
    this.name = new.target.name
    this.code = code
    this.param = details.param ?? null
    this.log = details.log ?? []
    this.headers = details.headers ?? {}
    this.status = details.status ?? null
  }
}
