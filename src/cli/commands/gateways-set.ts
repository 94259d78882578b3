import { gatewayOptionTable } from '../../options/gateway-options.ts'
import { optionTable } from '../../options/option-spec.ts'
import { exitCode } from '../exit-code.ts'
import { optional } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { shareAddress } from '../share-rows.ts'

const { kind } = gatewayOptionTable.maxConcurrent

export const example = 'tokenweir gateways set --max-concurrent 32'
export const use = 'none'
export const table = optionTable({
  maxConcurrent: optional(kind, 'slots that all gateways share'),
})

/** `tokenweir gateways set`: changes the limit that gateways share, whether one of them runs or not. */
export const run: CommandRun<typeof table> = async ({ maxConcurrent }, { env, terminal }) => {
  if (maxConcurrent === null) throw new OptionError('name the new limit: --max-concurrent 32')
  const url = shareAddress(env)
  const { errorInWords } = await import('../../share/postgres.ts')
  const { GatewayList } = await import('../../share/slots/gateway-list.ts')
  const list = new GatewayList({ url, folder: '.', clock: terminal.clock })
  try {
    await list.setMaxConcurrent(maxConcurrent)
  } catch (error) {
    terminal.warn(`tokenweir: the shared database ${errorInWords(error, url)}\n`)
    return exitCode.fault
  } finally {
    list.close()
  }
  terminal.print(`All gateways share ${maxConcurrent} slots from now on.\n`)
  return 0
}
