import { optionTable } from '../../options/option-spec.ts'
import { type Environment, parseWithOperands } from '../parse-options.ts'
import { printable } from '../terminal/printable.ts'
import { type Terminal, thisTerminal } from '../terminal/terminal.ts'
import { placeOptions, upstreamsOf } from './upstreams-list.ts'

export const table = optionTable(placeOptions)

export { operand } from './upstreams-set.ts'

/** `tokenweir upstreams remove <name>`: its calls go to the default upstream from then on. Gives the exit code; throws `OptionError`. */
export async function run(
  argv: readonly string[],
  env: Environment,
  terminal: Terminal = thisTerminal(),
): Promise<number> {
  const { options, operands } = parseWithOperands(table, argv, env, ['upstream'])
  const [name = ''] = operands
  await upstreamsOf(options, env).remove(name)
  terminal.print(printable(`${name} is gone; calls under way there end as they would`) + '\n')
  return 0
}
