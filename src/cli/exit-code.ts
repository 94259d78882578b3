/** What a command's exit code says; `docs/options.md` has the table. */
export const exitCode = {
  /** Something failed, and the last line says what. */
  fault: 1,
  /** A wrong command, option or value. */
  usage: 2,
  portInUse: 3,
  /** `tail` or `top` found no gateway. */
  noGateway: 4,
} as const
