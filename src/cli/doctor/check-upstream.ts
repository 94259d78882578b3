import { keyHeader } from '../../gateway/routing/credentials.ts'
import { parseUpstreamBase } from '../../gateway/http/target.ts'
import { failureOf } from '../../gateway/upstream/undici-failure.ts'
import { proxyFor, type UpstreamProxy } from '../../gateway/upstream/upstream-proxy.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'
import { headerOf } from '../../lib/http/header-list.ts'
import type { Whole } from '../../gateway/upstream/buffered-response.ts'
import { listModels, namesIn } from '../list-models.ts'
import type { Environment } from '../parse-options.ts'
import { counted, duration } from '../terminal/figures.ts'
import { printable } from '../terminal/printable.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

/** An upstream, and how the gateway would ask it. */
export interface AskedUpstream {
  readonly url: string
  /** The key that the gateway lends; empty if there is none, or it does not go there. */
  readonly key: string
  readonly connectTimeoutMs: number
}

/** For the whole of the list of models. */
const limitMs = 15_000
const shownModels = 3
const mostSkewMs = 30_000

/** Lists the upstream's models, on the way that calls take: what that says of it, of the proxy and of the clock. */
export async function checkUpstream(asked: AskedUpstream, env: Environment): Promise<Finding[]> {
  const base = parseUpstreamBase(asked.url)
  let proxy: UpstreamProxy | null
  try {
    proxy = proxyFor(base.origin, env)
  } catch (error) {
    return [fault('proxy', messageOf(error), 'set it to http://host:port, or take it away')]
  }
  const sentMs = Date.now()
  const { url, key, connectTimeoutMs } = asked
  const lent = keyHeader(key, base.host)
  const answer = await listModels({ url, keyHeader: lent, proxy, connectTimeoutMs, limitMs })
  const tookMs = Date.now() - sentMs
  const date = headerOf(answer.headers, 'date')
  const clock =
    date === null
      ? warning('clock', 'not compared: the upstream told no time', 'see that it is right: budgets go by it')
      : clockFinding(Date.parse(date) - (sentMs + tookMs / 2))
  return [proxyFinding(proxy, env), upstreamFinding(asked, answer, tookMs, proxy), clock]
}

function upstreamFinding(
  { url, key }: AskedUpstream,
  whole: Whole,
  tookMs: number,
  proxy: UpstreamProxy | null,
): Finding {
  const check = 'upstream'
  const { status, error } = whole
  if (error !== null || status === 0) {
    const { message } = failureOf(error ?? new Error('no answer'), { ...asNothingCame, answered: status > 0 })
    return fault(check, printable(`${url}: ${message}`), remedyFor(codeOf(error), proxy))
  }
  const answered = `${url} answers in ${duration(tookMs)}`
  if (status === 401 || status === 403) {
    return key === ''
      ? warning(
          check,
          `${answered}, and asks for a key (${status})`,
          'clients bring theirs, or UPSTREAM_API_KEY is lent to them',
        )
      : fault(
          check,
          `${answered}, and refuses the key (${status})`,
          'UPSTREAM_API_KEY holds another than it knows',
        )
  }
  if (status >= 500)
    return fault(check, `${answered} with ${status}`, 'it is down, or what stands before it is')
  const names = namesIn(whole)
  if (names === null) {
    const remedy = 'is that the base URL of its API? It mostly ends in /v1'
    return warning(check, `${answered} with ${status}, and lists no models`, remedy)
  }
  const more = names.length > shownModels ? ', …' : ''
  const accepted = key === '' ? '' : ', the key is accepted'
  const few = printable(names.slice(0, shownModels).join(', '))
  return ok(check, `${answered}${accepted}, ${counted(names.length, 'model')}: ${few}${more}`)
}

const asNothingCame = { started: false, answered: false, reusedSocket: false, maxHeaderBytes: 0 }

const remedies: readonly (readonly [code: RegExp, remedy: string])[] = [
  [/^CERT_HAS_EXPIRED/, 'the certificate has to be renewed there, if the clock here is right'],
  [/ALTNAME/, 'name it in --upstream as its certificate does'],
  [/CERT|SIGNATURE|ISSUER/, 'start it with NODE_EXTRA_CA_CERTS=<file of the certificate that signed it>'],
  [/SSL|EPROTO/, 'is it --upstream http:// and not https://?'],
  [/ENOTFOUND|EAI_AGAIN/, '--upstream names a host that this machine knows'],
]

function remedyFor(code: unknown, proxy: UpstreamProxy | null): string {
  const known = remedies.find(([pattern]) => pattern.test(String(code)))?.[1]
  if (known !== undefined) return known
  if (proxy !== null) return `is ${proxy.origin} up? NO_PROXY names hosts that are asked without it`
  return 'start it, or --upstream names another'
}

function proxyFinding(proxy: UpstreamProxy | null, env: Environment): Finding {
  if (proxy !== null) return ok('proxy', `${proxy.origin} is on the way (${proxy.variable})`)
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy']
  const set = names.filter((name) => (env[name] ?? '') !== '')
  return ok(
    'proxy',
    set.length === 0 ? 'none on the way' : `none on the way to it, though ${set.join(' and ')} is set`,
  )
}

function clockFinding(skewMs: number): Finding {
  if (!Number.isFinite(skewMs) || Math.abs(skewMs) < mostSkewMs) {
    return ok('clock', "right, by the upstream's")
  }
  const way = skewMs > 0 ? 'behind' : 'ahead of'
  const message = `${duration(Math.abs(skewMs))} ${way} the upstream's`
  return warning('clock', message, 'have it set by NTP: days, prices and budgets go by it')
}
