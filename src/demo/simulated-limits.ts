import type { ChatModel } from './simulated-models.ts'

const minuteMs = 60_000

/** The rest of each model's limits a minute, refilled continuously; the simulation refuses no call for them. */
export class SimulatedLimits {
  readonly #remaining = new Map<string, { requests: number; tokens: number; atMs: number }>()

  /** Counts a call, and returns OpenAI's headers of limits; empty for a model without limits. */
  take({ id, limits }: ChatModel, tokens: number, nowMs: number): Readonly<Record<string, string>> {
    if (limits === undefined) return {}
    const before = this.#remaining.get(id) ?? { ...limits, atMs: nowMs }
    const refilled = (kind: keyof typeof limits): number =>
      Math.min(limits[kind], before[kind] + (limits[kind] * (nowMs - before.atMs)) / minuteMs)
    const remaining = {
      requests: Math.max(0, refilled('requests') - 1),
      tokens: Math.max(0, refilled('tokens') - tokens),
      atMs: nowMs,
    }
    this.#remaining.set(id, remaining)
    const headers = (['requests', 'tokens'] as const).flatMap((kind) => [
      [`x-ratelimit-limit-${kind}`, String(limits[kind])] as const,
      [`x-ratelimit-remaining-${kind}`, String(Math.floor(remaining[kind]))] as const,
      [
        `x-ratelimit-reset-${kind}`,
        `${((60 * (limits[kind] - remaining[kind])) / limits[kind]).toFixed(3)}s`,
      ] as const,
    ])
    return Object.fromEntries(headers)
  }
}
