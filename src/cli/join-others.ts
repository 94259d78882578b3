import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { Failure } from '../call/failure.ts'
import { systemClock } from '../call/clock.ts'
import { writeErrorAnswer } from '../gateway/http/own-answers.ts'
import { newInstance } from '../gateway/process/gateway-parts.ts'
import { type GatewayOptions, gatewayOptionTable as table } from '../options/gateway-options.ts'
import type { ShareProcess } from '../share/rows/share-process.ts'
import type { SharedLimit } from '../share/slots/shared-limit.ts'
import { version } from './package-version.ts'
import type { Environment } from './parse-options.ts'
import { shareAddress, shareRows } from './share-rows.ts'

/** The connection of a gateway to the gateways with which it shares. */
export interface Shared {
  readonly limit: SharedLimit | null
  /** The process that sends rows; null without sharing. */
  readonly share: ShareProcess | null
}

/**
 * Joins the gateways that share their limit and their rows. Until their database answers, each request gets
 * 503, so that a load balancer chooses another gateway. Attach the server's own handler in the same turn in which
 * this resolves: requests in between would get no answer. Rejects with `LimitError` if the others refuse this start.
 */
export async function joinOthers(
  options: GatewayOptions,
  env: Environment,
  server: Server,
  say: (line: string) => void,
): Promise<Shared> {
  if (!options.share) return { limit: null, share: shareRows(options, env, { pulls: false }, say) }
  server.on('request', refuse)
  try {
    const limit = await joinLimit(options, env, say)
    const share = shareRows(options, env, { pulls: false }, say)
    if (share !== null) limit.behind = () => share.behind
    return { limit, share }
  } catch (error) {
    server.close()
    throw error
  } finally {
    server.off('request', refuse)
  }
}

async function joinLimit(
  options: GatewayOptions,
  env: Environment,
  say: (line: string) => void,
): Promise<SharedLimit> {
  const url = shareAddress(env)
  const { SharedLimit } = await import('../share/slots/shared-limit.ts')
  const { maxConcurrent, tokenLimit } = options
  const rejects = options.budgetAction === 'reject'
  const limit = new SharedLimit({
    url,
    instance: newInstance(),
    folder: dirname(options.db),
    version,
    settings: { maxConcurrent, tokenLimit, rejects },
    // A dashboard passes every option, so a default value asks for what the others have.
    ownSettings: {
      maxConcurrent: maxConcurrent === table.maxConcurrent.default ? null : maxConcurrent,
      tokenLimit: tokenLimit === table.tokenLimit.default ? null : tokenLimit,
      rejects: rejects ? true : null,
    },
    leaseMs: options.shareLeaseS * 1000,
    clock: systemClock,
    say,
  })
  await limit.join()
  return limit
}

function refuse(_req: IncomingMessage, res: ServerResponse): void {
  const message = 'This gateway shares its limit with others, and cannot reach their database yet.'
  writeErrorAnswer(res, new Failure('limit_unreachable', message, { retryAfterS: 1 }), null)
}
