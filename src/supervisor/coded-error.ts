/** An error with words for the person who asked, and a code that decides how the dashboard answers. */
export abstract class CodedError<Code extends string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string) {
    super(message)
    this.name = new.target.name
    this.code = code
  }
}
