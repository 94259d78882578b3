import type { Command } from 'commander'
import { dirname } from 'node:path'
import { controlFolder } from '../../control/control-folder.ts'
import { followFeed } from '../../control/follow-feed.ts'
import { readAdminToken } from '../admin-token.ts'
import { exitCode } from '../exit-code.ts'
import { addressPlace, type FeedPlace, GatewayFeed, NoGateway, socketPlace } from './gateway-feed.ts'
import { commandOf, type Environment, parseOptions } from '../parse-options.ts'
import { type TailOptions, tailOptionTable } from './tail-options.ts'
import { TailPrinter } from '../terminal/tail-printer.ts'
import { thisTerminal } from '../terminal/terminal.ts'
import { onStopSignal } from '../stop-signal.ts'

export const command = (): Command => commandOf('tail', 'show calls as they begin and end', tailOptionTable)

/**
 * `tokenweir tail`: calls as they begin and end, from the gateway's feed, until it is ended. Gives the exit code; throws
 * `OptionError`.
 */
export async function run(argv: readonly string[], env: Environment): Promise<number> {
  const options: TailOptions = parseOptions(tailOptionTable, argv, env)
  const terminal = thisTerminal()
  const stopped = new AbortController()
  onStopSignal(async () => stopped.abort())
  const signal = AbortSignal.any([stopped.signal, terminal.signal])
  const feed = new GatewayFeed(placesOf(options, env))
  const tail = new TailPrinter(options, terminal, () => feed.name)
  try {
    await followFeed({
      clock: terminal.clock,
      open: (lastEventId) => feed.open(lastEventId),
      onEvent: (event) => tail.take(event),
      onLost: () => tail.lost(),
      signal,
    })
    return 0
  } catch (error) {
    if (signal.aborted) return 0
    terminal.warn(`tokenweir: ${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof NoGateway ? exitCode.noGateway : exitCode.fault
  } finally {
    tail.end()
  }
}

/**
 * Who names a port or an address means the gateway there, and trusts it with the token. What just happens to listen on
 * the usual port gets none.
 */
function placesOf(options: TailOptions, env: Environment): readonly FeedPlace[] {
  const token = readAdminToken(options.adminTokenFile, env)
  if (options.url !== null) return [addressPlace(options.url, token)]
  const byPort = `http://127.0.0.1:${options.port}`
  if (options.sources.port === 'flag') return [addressPlace(byPort, token)]
  return [socketPlace(controlFolder(dirname(options.db))), addressPlace(byPort, null)]
}
