import { dropOldest } from '../../lib/drop-oldest.ts'

/** Bytes per token of ordinary text, until a model's own figure is known. */
const usualBytesPerToken = 4
/** Output tokens of a call without a bound, to an unknown model. */
const usualOutput = 1000
/** Most output tokens of any model. A larger bound counts as no bound. */
const longestOutput = 10_000_000
/** Weight of the newest call in the running ratio. */
const newestShare = 1 / 16
/** Most outputs per model from which the estimate is computed. */
const mostOutputs = 64
const outputShare = 0.95
/** With fewer outputs, the estimate is the largest of them. */
const fewestOutputs = 32
/** Most models; the one with the oldest call is dropped first. */
const mostModels = 200

/** Input and output tokens of a call, used or estimated. */
export interface Tokens {
  readonly input: number
  readonly output: number
}

interface Learned {
  bytesPerToken: number
  /** The newest at the end. */
  readonly outputs: number[]
}

/** Estimates the tokens of a call from earlier calls of its model. */
export class TokenEstimate {
  readonly #models = new Map<string, Learned>()

  /** `maxOutputTokens`: the output tokens that the call allows; 0 without a bound. */
  of(model: string | null, requestBytes: number, maxOutputTokens: number): Tokens {
    const { bytesPerToken, outputs } = this.#models.get(model ?? '') ?? unknown
    const input = Math.ceil(requestBytes / bytesPerToken)
    const bound = maxOutputTokens > 0 && maxOutputTokens <= longestOutput ? maxOutputTokens : Infinity
    if (outputs.length < fewestOutputs)
      return { input, output: bound === Infinity ? Math.max(usualOutput, ...outputs) : bound }
    const sorted = outputs.toSorted((a, b) => a - b)
    return { input, output: Math.min(bound, sorted[Math.floor(sorted.length * outputShare)] ?? usualOutput) }
  }

  /** Adds the reported use of a call. */
  learn(model: string | null, requestBytes: number, { input, output }: Tokens): void {
    const key = model ?? ''
    const estimate = this.#models.get(key) ?? { bytesPerToken: usualBytesPerToken, outputs: [] }
    this.#models.delete(key)
    this.#models.set(key, estimate)
    if (input > 0 && requestBytes > 0) {
      // An image has many bytes and few tokens, and must not distort the estimate.
      const ratio = Math.min(16, Math.max(0.5, requestBytes / input))
      estimate.bytesPerToken += (ratio - estimate.bytesPerToken) * newestShare
    }
    estimate.outputs.push(output)
    if (estimate.outputs.length > mostOutputs) estimate.outputs.shift()
    dropOldest(this.#models, mostModels)
  }
}

const unknown: Learned = { bytesPerToken: usualBytesPerToken, outputs: [] }
