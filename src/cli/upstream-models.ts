import { listModels } from './list-models.ts'
import type { Environment } from './parse-options.ts'

const limitMs = 3000
const mostModels = 1000

/** The models that an upstream lists without a key; none if it does not, or takes too long. Never rejects. */
export async function upstreamModels(url: string, env: Environment): Promise<readonly string[]> {
  try {
    const { names } = await listModels({ url, keyHeader: [], connectTimeoutMs: limitMs, limitMs }, env)
    return (names ?? []).slice(0, mostModels)
  } catch {
    return []
  }
}
