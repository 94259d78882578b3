import { dropOldest } from '../../lib/drop-oldest.ts'

/** Bytes per token of ordinary text, until a model's own figure is known. */
const usualBytesPerToken = 4
/** Output of a call without a bound, to an unknown model. */
const usualOutput = 1000
/** No model gives more: a call that allows more says nothing, like one that cannot be read. */
const longestOutput = 10_000_000
/** Share that the newest call has in the running ratio. */
const newestShare = 1 / 16
/** Outputs of so many calls say how long one may be. */
const mostOutputs = 64
const outputShare = 0.95
/** Fewer say little. */
const fewestOutputs = 32
/** Models that are remembered; the one that was not called for the longest goes first. */
const mostModels = 200

export interface Tokens {
  readonly input: number
  readonly output: number
}

interface Learned {
  bytesPerToken: number
  /** The newest at the end. */
  readonly outputs: number[]
}

/** Estimates what a call will use before it is made, by what earlier calls of its model used. */
export class TokenEstimate {
  readonly #models = new Map<string, Learned>()

  /** `asked`: output tokens that the call allows; 0 where it does not say. */
  of(model: string | null, requestBytes: number, asked: number): Tokens {
    const { bytesPerToken, outputs } = this.#models.get(model ?? '') ?? unknown
    const input = Math.ceil(requestBytes / bytesPerToken)
    const bound = asked > 0 && asked <= longestOutput ? asked : Infinity
    if (outputs.length < fewestOutputs)
      return { input, output: bound === Infinity ? Math.max(usualOutput, ...outputs) : bound }
    const sorted = outputs.toSorted((one, other) => one - other)
    return { input, output: Math.min(bound, sorted[Math.floor(sorted.length * outputShare)] ?? usualOutput) }
  }

  /** Learns from the use of a call. */
  learn(model: string | null, requestBytes: number, { input, output }: Tokens): void {
    const key = model ?? ''
    const known = this.#models.get(key) ?? { bytesPerToken: usualBytesPerToken, outputs: [] }
    this.#models.delete(key)
    this.#models.set(key, known)
    if (input > 0 && requestBytes > 0) {
      // Images may be many bytes and few tokens: one such call must not make all others look cheap.
      const ratio = Math.min(16, Math.max(0.5, requestBytes / input))
      known.bytesPerToken += (ratio - known.bytesPerToken) * newestShare
    }
    known.outputs.push(output)
    if (known.outputs.length > mostOutputs) known.outputs.shift()
    dropOldest(this.#models, mostModels)
  }
}

const unknown: Learned = { bytesPerToken: usualBytesPerToken, outputs: [] }
