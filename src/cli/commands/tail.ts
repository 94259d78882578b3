import { dirname } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { controlFolder } from '../../control/control-folder.ts'
import { followFeed } from '../../control/follow-feed.ts'
import { readAdminToken } from '../admin-token.ts'
import { CommandError } from '../exit-code.ts'
import { addressPlace, type FeedPlace, gatewayFeed, socketPlace } from './gateway-feed.ts'
import type { CommandRun, Environment } from '../parse-options.ts'
import { tailPrinter } from '../terminal/tail-printer.ts'
import { onStopSignal } from '../stop-signal.ts'
import { ownOptionTable } from '../../options/dashboard-options.ts'
import { defaultGatewayPort, gatewayOptionTable } from '../../options/gateway-options.ts'
import { type OptionsOf, optionTable, row, sourceOf } from '../../options/option-spec.ts'
import { baseUrl, integer, names } from '../../options/value-kind.ts'
import { database, flag, optional, value } from '../option-rows.ts'

export const example = 'tokenweir tail --errors'
export const use = 'none'
export const table = optionTable({
  errors: flag('only failed calls'),
  model: value<readonly string[]>(names('a model name'), [], 'only calls with this model; repeatable'),
  json: flag('print each request and each response as one line of JSON'),
  db: database('file of the telemetry database; the gateway of its folder is followed'),
  port: row(integer(1, 65_535), defaultGatewayPort, 'TCP port of the gateway on this machine', {
    env: gatewayOptionTable.port.env,
  }),
  url: optional(baseUrl, 'address of the gateway, instead of --db and --port'),
  adminTokenFile: ownOptionTable.adminTokenFile,
})

type TailOptions = OptionsOf<typeof table>

/** `tokenweir tail`: prints calls as they begin and end, from the gateway's feed, until the command is ended. */
export const run: CommandRun<typeof table> = async (options, { env, terminal }) => {
  const stopped = new AbortController()
  onStopSignal(async () => stopped.abort())
  const signal = AbortSignal.any([stopped.signal, terminal.signal])
  const feed = gatewayFeed(placesOf(options, env))
  const tail = tailPrinter(options, terminal, feed.name)
  try {
    await followFeed({
      clock: terminal.clock,
      open: feed.open,
      onEvent: tail.take,
      onLost: tail.lost,
      signal,
    })
    return 0
  } catch (error) {
    if (signal.aborted) return 0
    throw error instanceof CommandError ? error : new CommandError(messageOf(error))
  } finally {
    tail.end()
  }
}

/**
 * The places to ask for a feed. A named port or address gets the token; the default port gets none, because
 * another program may listen there.
 */
function placesOf(options: TailOptions, env: Environment): readonly FeedPlace[] {
  const token = readAdminToken(options.adminTokenFile, env)
  if (options.url !== null) return [addressPlace(options.url, token)]
  const byPort = `http://127.0.0.1:${options.port}`
  if (sourceOf(options.setBy.port) === 'flag') return [addressPlace(byPort, token)]
  return [socketPlace(controlFolder(dirname(options.db))), addressPlace(byPort, null)]
}
