import type { IncomingMessage } from 'node:http'
import { isObject } from '../../lib/message-shape.ts'
import { readAtMost } from '../../lib/http/http.ts'
import { JsonValueError, type Schema, checked, pathText } from '../../options/schema.ts'
import { type ErrorCode, RequestError } from './request-error.ts'

const maxBytes = 64 * 1024

/**
 * The JSON of a request's body; undefined if the body is empty. Forms and plain text are refused, because the
 * page of another site can send them without a preflight. Rejects with {@link RequestError}, and if the
 * client leaves.
 */
export async function readJsonBody(req: IncomingMessage): Promise<unknown> {
  const text = await textOf(req)
  if (text === '') return undefined
  const [type = ''] = (req.headers['content-type'] ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') {
    throw new RequestError('unsupported_media_type', 'A body must be application/json.')
  }
  try {
    return JSON.parse(text, refuseTrap) as unknown
  } catch (error) {
    const message = 'The body is not valid JSON, or holds a forbidden key.'
    throw error instanceof RequestError ? error : new RequestError('invalid_json', message)
  }
}

/** The body, checked by a schema. Throws {@link RequestError} with `code`. */
export function checkedBody<T>(schema: Schema<T>, body: unknown, code: ErrorCode = 'invalid_body'): T {
  try {
    return checked(schema, body)
  } catch (error) {
    if (!(error instanceof JsonValueError)) throw error
    const { path, flaw } = error
    const message = `${path.length === 0 ? 'The body' : pathText(path)} ${flaw}.`
    throw new RequestError(code, message, { param: path[0]?.toString() ?? null })
  }
}

async function textOf(req: IncomingMessage): Promise<string> {
  const isTooLong = Number(req.headers['content-length'] ?? 0) > maxBytes
  // An iterator that is left early must not destroy the connection, which has to carry the answer.
  const text = isTooLong ? null : await readAtMost(maxBytes, req.iterator({ destroyOnReturn: false }))
  if (text === null) throw new RequestError('body_too_large', 'The body is too large.')
  return text
}

/** Refuses names that could change an object's prototype. Throws if the name is one of them. */
function refuseTrap(name: string, value: unknown): unknown {
  if (
    name === '__proto__' ||
    (name === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))
  ) {
    throw new SyntaxError(`${name} is forbidden`)
  }
  return value
}
