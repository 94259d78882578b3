import { createHash } from 'node:crypto'
import { fits, integer } from '../lib/message-schema.ts'
import type { SimulatedAnswer } from './completion-answer.ts'
import { type Random, drawFrom } from './random.ts'
import type { Fields } from '../lib/message-shape.ts'
import { ApiError, modelOf, promptTokensOf } from './request-fields.ts'
import { type EmbeddingModel, embeddingModels } from './simulated-models.ts'

const mostDimensions = 4096
const isDimensions = fits(integer(1, mostDimensions))
const mostInputs = 2048

/** Answers with meaningless vectors, always the same for an input. Throws {@link ApiError} for an invalid request. */
export function embeddingAnswer(fields: Fields, random: Random): SimulatedAnswer {
  const model = modelOf(fields, embeddingModels)
  const { input, dimensions = model.dimensions } = fields
  // The inputs are texts, or lists of tokens.
  const inputs: readonly unknown[] = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input]
  if (input === undefined || input === '' || inputs.length < 1 || inputs.length > mostInputs) {
    throw new ApiError(400, `\`input\` must be a text or a list of 1 to ${mostInputs}.`, { param: 'input' })
  }
  if (!isDimensions(dimensions)) {
    const message = `\`dimensions\` must be a whole number from 1 to ${mostDimensions}.`
    throw new ApiError(400, message, { param: 'dimensions' })
  }
  const prompt_tokens = inputs.reduce<number>((sum, input) => sum + promptTokensOf(input), 0)
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, dimensions)
    const isCoded = fields['encoding_format'] === 'base64'
    const embedding = isCoded ? Buffer.from(vector.buffer).toString('base64') : [...vector]
    return { object: 'embedding', index, embedding }
  })
  const usage = { prompt_tokens, total_tokens: prompt_tokens }
  const ms = embeddingMs(model, inputs.length, random)
  return { beginsMs: ms, endsMs: ms, body: { object: 'list', data, model: model.id, usage }, events: null }
}

/** A model's time in milliseconds for this number of inputs. */
export function embeddingMs(model: EmbeddingModel, inputs: number, random: Random): number {
  return drawFrom(random, { median: model.firstTokenMs + model.perInputMs * inputs })
}

/** A vector of length 1, as clients expect. */
function vectorOf(input: unknown, dimensions: number): Float32Array<ArrayBuffer> {
  const hash = createHash('shake256', { outputLength: dimensions })
  const vector = Float32Array.from(hash.update(JSON.stringify(input) ?? '').digest(), (byte) => byte - 127.5)
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
