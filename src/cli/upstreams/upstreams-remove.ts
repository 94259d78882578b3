import { optionTable } from '../../options/option-spec.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { printable } from '../terminal/printable.ts'
import { placeOptions, upstreamsOf } from './upstreams-list.ts'

export const example = 'tokenweir upstreams remove lab'
export const use = 'acts'
export const table = optionTable(placeOptions)

export { positional } from './upstreams-set.ts'

/** `tokenweir upstreams remove <name>`: removes an upstream, whose calls then go to the default upstream. */
export const run: CommandRun<typeof table> = async (options, { env, positionals, terminal }) => {
  const [name = ''] = positionals
  const upstreams = upstreamsOf(options, env)
  const { upstreams: rows, file } = await upstreams.report()
  if (!rows.some((row) => row.name === name && name !== 'default')) {
    throw new OptionError(`no upstream ${name} in ${file}: tokenweir upstreams lists them`)
  }
  await upstreams.remove(name)
  terminal.print(printable(`Removed ${name}; calls in progress there will finish`) + '\n')
  return 0
}
