import { createHash } from 'node:crypto'
import { isWhole } from '../lib/message-shape.ts'
import { ApiError } from './api-error.ts'
import { type Fields, modelOf, promptTokensOf } from './request-fields.ts'
import type { EmbeddingModel } from './simulated-models.ts'

/** What is to be embedded, and how the vectors are to be written. */
export interface EmbeddingRequest {
  readonly model: EmbeddingModel
  /** Texts, or lists of tokens. */
  readonly inputs: readonly unknown[]
  readonly dimensions: number
  readonly base64: boolean
}

const mostDimensions = 4096
const isDimensions = isWhole(1, mostDimensions)
const mostInputs = 2048

/** Throws {@link ApiError} if the request cannot be answered. */
export function readEmbeddingRequest(fields: Fields): EmbeddingRequest {
  const model = modelOf(fields, 'embedding')
  const input = fields['input']
  const isList = Array.isArray(input) && typeof input[0] !== 'number'
  const inputs: readonly unknown[] = isList ? input : [input]
  if (input === undefined || input === '' || inputs.length < 1 || inputs.length > mostInputs) {
    throw new ApiError(400, `\`input\` must be a text or a list of 1 to ${mostInputs}.`, { param: 'input' })
  }
  const dimensions = fields['dimensions'] ?? model.dimensions
  if (!isDimensions(dimensions)) {
    const message = `\`dimensions\` must be a whole number from 1 to ${mostDimensions}.`
    throw new ApiError(400, message, { param: 'dimensions' })
  }
  return { model, inputs, dimensions, base64: fields['encoding_format'] === 'base64' }
}

/** The same vector for the same input every time; it means nothing. */
export function embeddingAnswer({ model, inputs, dimensions, base64 }: EmbeddingRequest): unknown {
  const prompt_tokens = inputs.reduce<number>((sum, input) => sum + promptTokensOf(input), 0)
  return {
    object: 'list',
    data: inputs.map((input, index) => {
      const vector = vectorOf(input, dimensions)
      const embedding = base64 ? Buffer.from(vector.buffer).toString('base64') : [...vector]
      return { object: 'embedding', index, embedding }
    }),
    model: model.id,
    usage: { prompt_tokens, total_tokens: prompt_tokens },
  }
}

/** Of length 1, as clients expect. */
function vectorOf(input: unknown, dimensions: number): Float32Array<ArrayBuffer> {
  const bytes = createHash('shake256', { outputLength: dimensions })
    .update(JSON.stringify(input) ?? '')
    .digest()
  const vector = new Float32Array(dimensions)
  for (const [i, byte] of bytes.entries()) vector[i] = byte - 127.5
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}
