import { keyHeader } from '../../gateway/routing/credentials.ts'
import { parseUpstreamBase } from '../../gateway/http/target.ts'
import type { UpstreamProxy } from '../../gateway/upstream/upstream-proxy.ts'
import { messageOf } from '../../lib/errors.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import { listModels, type ModelResponse } from '../list-models.ts'
import type { Environment } from '../parse-options.ts'
import { counted, duration } from '../../lib/number-format.ts'
import { printable } from '../terminal/printable.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

/** An upstream, and how the gateway would call it. */
export interface CheckedUpstream {
  readonly url: string
  /** The key that the gateway adds; empty if there is none, or the upstream gets none. */
  readonly key: string
  readonly connectTimeoutMs: number
}

/** Time limit for the whole list of models. */
const limitMs = 15_000
/** Most models that are named. */
const shownModels = 3
const mostSkewMs = 30_000

/**
 * Lists the upstream's models over the same proxy as calls. Returns findings on the upstream, the proxy and
 * the clock.
 */
export async function checkUpstream(target: CheckedUpstream, env: Environment): Promise<Finding[]> {
  const { url, key, connectTimeoutMs } = target
  const request = { url, keyHeader: keyHeader(key, parseUpstreamBase(url).host), connectTimeoutMs, limitMs }
  const sentMs = Date.now()
  let response: ModelResponse
  try {
    response = await listModels(request, env)
  } catch (error) {
    return [fault('proxy', messageOf(error), 'set it to http://host:port, or unset it')]
  }
  const date = headerOf(response.headers, 'date')
  const clock =
    date === null
      ? warning(
          'clock',
          'not compared: the upstream sent no Date header',
          'make sure it is correct: budgets depend on it',
        )
      : clockFinding(Date.parse(date) - (sentMs + response.tookMs / 2))
  return [proxyFinding(response.proxy, env), upstreamFinding(target, response), clock]
}

function upstreamFinding(
  { url, key }: CheckedUpstream,
  { status, failure, names, tookMs, proxy }: ModelResponse,
): Finding {
  const check = 'upstream'
  if (failure !== null)
    return fault(check, printable(`${url}: ${failure.message}`), remedyFor(failure.code, proxy))
  const answerText = `${url} answers in ${duration(tookMs)}`
  if (status === 401 || status === 403) {
    return key === ''
      ? warning(
          check,
          `${answerText}, and asks for a key (${status})`,
          'clients must send one, or set UPSTREAM_API_KEY',
        )
      : fault(check, `${answerText}, and refuses the key (${status})`, 'check UPSTREAM_API_KEY')
  }
  if (status >= 500)
    return fault(check, `${answerText} with ${status}`, 'it, or a proxy in front of it, is down')
  if (names === null) {
    const remedy = 'check the base URL; it usually ends in /v1'
    return warning(check, `${answerText} with ${status}, and lists no models`, remedy)
  }
  const more = names.length > shownModels ? ', …' : ''
  const accepted = key === '' ? '' : ', the key is accepted'
  const few = printable(names.slice(0, shownModels).join(', '))
  return ok(check, `${answerText}${accepted}, ${counted(names.length, 'model')}: ${few}${more}`)
}

const remedies: readonly (readonly [code: RegExp, remedy: string])[] = [
  [/^CERT_HAS_EXPIRED/, 'renew its certificate, if this machine’s clock is right'],
  [/ALTNAME/, 'use the host name of its certificate in --upstream'],
  [/CERT|SIGNATURE|ISSUER/, 'start it with NODE_EXTRA_CA_CERTS=<file of the certificate that signed it>'],
  [/SSL|EPROTO/, 'try --upstream http:// instead of https://'],
  [/ENOTFOUND|EAI_AGAIN/, 'check the host name in --upstream'],
]

function remedyFor(code: unknown, proxy: UpstreamProxy | null): string {
  const remedy = remedies.find(([pattern]) => pattern.test(String(code)))?.[1]
  if (remedy !== undefined) return remedy
  if (proxy !== null) return `check that ${proxy.origin} is up, or bypass it with NO_PROXY`
  return 'start it, or use another with --upstream'
}

function proxyFinding(proxy: UpstreamProxy | null, env: Environment): Finding {
  if (proxy !== null) return ok('proxy', `calls go through ${proxy.origin} (${proxy.variable})`)
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']
  const set = names.filter((name) => (env[name] ?? '') !== '')
  return ok(
    'proxy',
    set.length === 0 ? 'none' : `not used for the upstream, although ${set.join(' and ')} is set`,
  )
}

function clockFinding(skewMs: number): Finding {
  if (!Number.isFinite(skewMs) || Math.abs(skewMs) < mostSkewMs) {
    return ok('clock', "matches the upstream's clock")
  }
  const way = skewMs > 0 ? 'behind' : 'ahead of'
  const message = `${duration(Math.abs(skewMs))} ${way} the upstream's`
  return warning('clock', message, 'set it by NTP: days, prices and budgets depend on it')
}
