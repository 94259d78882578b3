import { dirname } from 'node:path'
import { controlFolder } from '../../control/control-folder.ts'
import { followFeed } from '../../control/follow-feed.ts'
import { readAdminToken } from '../admin-token.ts'
import { exitCode } from '../exit-code.ts'
import { addressPlace, type FeedPlace, GatewayFeed, NoGateway, socketPlace } from './gateway-feed.ts'
import { type Environment, parseOptions } from '../parse-options.ts'
import { type TailOptions, tailOptionTable } from './tail-options.ts'
import { type TailOutput, TailPrinter } from '../terminal/tail-printer.ts'

/** What `tokenweir tail` needs of the world. */
export interface TailContext extends TailOutput {
  /** Aborted when it is to end. */
  readonly signal: AbortSignal
}

/**
 * `tokenweir tail`: calls as they begin and end, from the gateway's feed, until it is ended. Gives the exit code; throws
 * `OptionError`.
 */
export async function runTail(
  argv: readonly string[],
  env: Environment,
  context: TailContext,
): Promise<number> {
  const options: TailOptions = parseOptions(tailOptionTable, argv, env)
  const feed = new GatewayFeed(placesOf(options, env))
  const tail = new TailPrinter(options, context, () => feed.name)
  try {
    await followFeed({
      clock: context.clock,
      open: (lastEventId) => feed.open(lastEventId),
      onEvent: (event) => tail.take(event),
      onLost: () => tail.lost(),
      signal: context.signal,
    })
    return 0
  } catch (error) {
    if (context.signal.aborted) return 0
    context.warn(`tokenweir: ${error instanceof Error ? error.message : String(error)}\n`)
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
