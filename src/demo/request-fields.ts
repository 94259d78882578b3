import { messageOf } from '../lib/errors.ts'
import { type Fields, isObject } from '../lib/message-shape.ts'
import { modelIds } from './simulated-models.ts'

/** A refusal of the simulated upstream, in OpenAI's form. */
export class ApiError extends Error {
  readonly status: number
  /** Members of the answered `error`, besides its message. */
  readonly details: { readonly type?: string; readonly param?: string; readonly code?: string }

  constructor(status: number, message: string, details: ApiError['details'] = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.details = details
  }
}

/** A request's body as a JSON object; throws {@link ApiError} if it is none. */
export function parseFields(body: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch (error) {
    throw new ApiError(400, `The body of the request is not JSON: ${messageOf(error)}`)
  }
  if (!isObject(value)) throw new ApiError(400, 'The body of the request must be a JSON object.')
  return value
}

/** The elements of a list; empty for any other value. */
export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Approximate tokens of a prompt: one for four characters of its JSON. */
export function promptTokensOf(prompt: unknown): number {
  return Math.max(1, Math.ceil((JSON.stringify(prompt) ?? '').length / 4))
}

/** The requested model; throws {@link ApiError} if `models` does not have it. */
export function modelOf<M extends { readonly id: string }>({ model: id }: Fields, models: readonly M[]): M {
  const found = models.find((model) => model.id === id)
  if (found !== undefined) return found
  const param = 'model'
  if (typeof id !== 'string' || id === '') {
    throw new ApiError(400, 'You must name a model: `"model": "simulated-small"`.', { param })
  }
  const fitting = models.map((model) => model.id).join(', ')
  if (modelIds.includes(id)) {
    throw new ApiError(400, `The model \`${id}\` does not support this; use ${fitting}.`, { param })
  }
  const message = `There is no model \`${id}\`: this upstream is simulated and has ${modelIds.join(', ')}.`
  throw new ApiError(404, message, { param, code: 'model_not_found' })
}
