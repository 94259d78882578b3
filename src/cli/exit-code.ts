import { codeOf } from '../lib/errors.ts'

/** The meanings of exit codes; `docs/options.md` has the table. */
export const exitCode = {
  /** The command failed; the last line says why. */
  fault: 1,
  /** A wrong command, option or value. */
  usage: 2,
  portInUse: 3,
  /** `tail`, `top` or `limits` found no gateway. */
  noGateway: 4,
} as const

/** Why a command failed. Only the message is printed, which is one line. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, code: number = exitCode.fault) {
    super(message)
    this.exitCode = code
  }
}

/** The error of a command that finds no gateway. */
export function noGatewayAnswers(where: string, advice: string): CommandError {
  return new CommandError(`no gateway is running ${where}: ${advice}`, exitCode.noGateway)
}

/** The advice if no gateway was found. */
export const nameItsDatabase = 'start one with "tokenweir gateway", or give its database with --db'

/** The exit code for a thrown error; null for an internal error. Errors of the system, of SQLite and our own have codes. */
export function exitCodeOf(error: unknown): number | null {
  if (error instanceof CommandError) return error.exitCode
  const code = codeOf(error)
  if (typeof code !== 'string' || /^ERR_(?!SQLITE)/.test(code)) return null
  // Codes of wrong input, for which the dashboard answers 400.
  return code.startsWith('invalid_') ? exitCode.usage : exitCode.fault
}
