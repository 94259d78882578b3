import { idsPerMs } from '../../src/call/call-id.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { chatCall } from '../store/sample-call.ts'
import { seededRandom } from '../support/seeded-random.ts'

interface Mix {
  readonly count: number
  readonly seed: number
  readonly fromMs: number
  readonly days: number
  /** The first one is that of every other call. */
  readonly models: readonly string[]
}

/** Calls of some days, at any time of them, that differ in all by which they are selected and grouped. */
export function mixedCalls({ count, seed, fromMs, days, models }: Mix): readonly CallRecord[] {
  const random = seededRandom(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  return Array.from({ length: count }, (_, index): CallRecord => {
    const atMs = fromMs + Math.floor(random() * days * 86_400_000)
    const outcome = pick([
      'ok',
      'ok',
      'ok',
      'ok',
      'upstream_error',
      'upstream_cut',
      'client_disconnected',
      'refused',
    ] as const)
    const isChat = random() < 0.7
    return {
      ...chatCall(atMs * idsPerMs + index),
      callType: isChat ? 'chat' : pick(['embedding', 'rerank', 'props', 'other'] as const),
      model: random() < 0.1 ? null : random() < 0.5 ? models[0]! : pick(models),
      outcome,
      status: outcome === 'ok' ? 200 : outcome === 'client_disconnected' ? 499 : pick([429, 500, 503]),
      failureCode:
        outcome === 'upstream_error'
          ? 'upstream_http'
          : outcome === 'upstream_cut'
            ? 'stream_truncated'
            : null,
      client: pick(['curl', 'openai-python', null]),
      endpoint: isChat ? '/v1/chat/completions' : '/v1/embeddings',
      session: pick([null, null, 'run 1', 'run 2', "'; DROP TABLE calls --"]),
      tags: pick([null, 'env:prod,user:a', 'env:dev', 'user:b,env:prod']),
      cacheSavedNanoUsd: Math.round(random() * 1e6 - 1e5),
      durationMs: Math.round(1 + 30_000 * random() ** 3),
      ttftMs: isChat ? Math.round(1 + 2000 * random()) : null,
      queueMs: Math.round(random() * 50),
      tpotMs: isChat ? 5 + Math.round(random() * 40) : null,
      costNanoUsd: random() < 0.3 ? null : Math.round(random() * 1e7),
      usageSource: random() < 0.1 ? 'none' : 'usage',
    }
  })
}
