import { messageOf } from '../lib/caught.ts'
import { isObject } from '../lib/message-shape.ts'
import { ApiError } from './api-error.ts'
import { type SimulatedModel, simulatedModels } from './simulated-models.ts'

export type Fields = Readonly<Record<string, unknown>>

/** A request's body as a JSON object; throws {@link ApiError} if it is none. */
export function parseFields(body: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    throw new ApiError(400, `The body of the request is no JSON: ${messageOf(error)}`)
  }
  if (!isObject(value)) throw new ApiError(400, 'The body of the request must be a JSON object.')
  return value
}

/** The fields of a JSON object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** About what a tokenizer would count in a prompt: a token for four characters of its JSON. */
export function promptTokensOf(prompt: unknown): number {
  return Math.max(1, Math.ceil((JSON.stringify(prompt) ?? '').length / 4))
}

/** The model that is asked for; throws {@link ApiError} if there is none of that kind. */
export function modelOf<K extends SimulatedModel['kind']>(
  fields: Fields,
  kind: K,
): Extract<SimulatedModel, { kind: K }> {
  const id = fields['model']
  if (typeof id !== 'string' || id === '') {
    throw new ApiError(400, 'You must name a model: `"model": "simulated-small"`.', { param: 'model' })
  }
  const model = simulatedModels.find((each) => each.id === id)
  if (model === undefined) {
    const known = simulatedModels.map((each) => each.id).join(', ')
    throw new ApiError(404, `There is no model \`${id}\`: this upstream is simulated and has ${known}.`, {
      param: 'model',
      code: 'model_not_found',
    })
  }
  if (model.kind !== kind) {
    const why = kind === 'chat' ? 'makes embeddings and does not chat' : 'makes no embeddings'
    throw new ApiError(400, `The model \`${id}\` ${why}.`, { param: 'model' })
  }
  return model as Extract<SimulatedModel, { kind: K }>
}
