import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { Failure } from '../call/failure.ts'
import { systemClock } from '../call/clock.ts'
import { writeErrorAnswer } from '../gateway/http/error-answer.ts'
import { newInstance } from '../gateway/process/gateway-parts.ts'
import { type GatewayOptions, gatewayOptionTable as table } from '../options/gateway-options.ts'
import type { SharedLimit } from '../share/slots/shared-limit.ts'
import { version } from './package-version.ts'
import { type Environment, OptionError } from './parse-options.ts'
import { shareAddress } from './share-rows.ts'

/**
 * Joins the gateways that share a limit. As long as their database cannot be asked, whoever comes is answered 503, so that what
 * balances load goes elsewhere. Throws {@link OptionError} if the others do not allow this start.
 */
export async function joinLimit(
  options: GatewayOptions,
  env: Environment,
  server: Server,
  say: (line: string) => void,
): Promise<SharedLimit> {
  const url = shareAddress(env)
  const { LimitError, SharedLimit } = await import('../share/slots/shared-limit.ts')
  const limit = new SharedLimit({
    url,
    instance: newInstance(),
    folder: dirname(options.db),
    version,
    maxConcurrent: options.maxConcurrent,
    // A dashboard names every option: who asks for a default asks for what there is.
    isDefault: options.maxConcurrent === table.maxConcurrent.default,
    tokenLimit: options.tokenLimit === table.tokenLimit.default ? null : options.tokenLimit,
    defaultTokenLimit: table.tokenLimit.default,
    rejects: options.budgetAction === table.budgetAction.default ? null : true,
    leaseMs: options.shareLeaseS * 1000,
    clock: systemClock,
    say,
  })
  server.on('request', refuse)
  try {
    await limit.join()
  } catch (error) {
    server.close()
    throw error instanceof LimitError ? new OptionError(error.message) : error
  } finally {
    server.off('request', refuse)
  }
  return limit
}

function refuse(_req: IncomingMessage, res: ServerResponse): void {
  const message = 'This gateway shares its limit with others, and cannot ask their database yet.'
  writeErrorAnswer(res, new Failure('limit_unreachable', message, { retryAfterS: 1 }), null)
}
