import type { Environment } from '../parse-options.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { set } from './upstreams-set.ts'

export { operand, table } from './upstreams-set.ts'

/** `tokenweir upstreams add <name>`: adds an upstream behind all others. Gives the exit code; throws `OptionError`. */
export function run(argv: readonly string[], env: Environment, terminal?: Terminal): Promise<number> {
  return set(argv, env, false, terminal)
}
