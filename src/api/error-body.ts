/** The body of every answer of the dashboard with a status of 400 and above. */
export interface ErrorBody {
  readonly error: {
    readonly code: string
    readonly message: string
    /** The parameter or setting that is wrong. */
    readonly param: string | null
    /** The gateway's last words, where it did not come up. */
    readonly log?: readonly string[]
    /** Facts for programs: of `folded_range` in `from` the instant from which on it can be asked. */
    readonly data?: Readonly<Record<string, string>>
  }
}
