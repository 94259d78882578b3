import { proxyFor } from '../gateway/upstream/upstream-proxy.ts'
import { parseUpstreamBase } from '../gateway/http/target.ts'
import { listModels, namesIn } from './list-models.ts'
import type { Environment } from './parse-options.ts'

const limitMs = 3000
const mostModels = 1000

/** The models that an upstream lists without a key; none if it does not, or takes too long. Never rejects. */
export async function upstreamModels(url: string, env: Environment): Promise<readonly string[]> {
  try {
    const proxy = proxyFor(parseUpstreamBase(url).origin, env)
    const whole = await listModels({ url, keyHeader: [], proxy, connectTimeoutMs: limitMs, limitMs })
    return (namesIn(whole) ?? []).slice(0, mostModels)
  } catch {
    return []
  }
}
