import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import { RequestProblem, internalError, problemOf } from './request-problem.ts'

/** What fastify itself refuses, by its error codes. */
const refusals: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  FST_ERR_BAD_URL: [400, 'invalid_target', 'The path holds a broken escape.'],
  FST_ERR_MAX_PARAM_LENGTH: [414, 'invalid_target', 'A part of the path is too long.'],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'body_too_large', 'The body is too large.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'unsupported_media_type', 'A body must be application/json.'],
  FST_ERR_CTP_INVALID_JSON_BODY: [
    400,
    'invalid_json',
    'The body is not valid JSON, or holds a forbidden key.',
  ],
}

/** Every error, whoever throws it, is answered in the one shape; a fault of our own is told to `onFault` alone. */
export function answerErrors(app: FastifyInstance, onFault: (error: unknown) => void): void {
  app.setErrorHandler((error: FastifyError, _request, reply) => answerError(error, reply, onFault))
  app.setNotFoundHandler((request) => {
    if (!app.supportedMethods.includes(request.method)) {
      throw new RequestProblem(501, 'unknown_method', `${request.method} is no method of the dashboard.`)
    }
    const path = request.url.split('?', 1)[0] ?? ''
    throw new RequestProblem(404, 'not_found', `Nothing is answered under ${path.slice(0, 100)}.`)
  })
}

/** One error's answer. */
export function answerError(
  error: FastifyError,
  reply: FastifyReply,
  onFault: (error: unknown) => void,
): FastifyReply {
  const problem = problemOf(error) ?? refusalOf(error)
  if (problem === null) onFault(error)
  const { status, headers, body } = problem ?? internalError
  return reply.code(status).headers(headers).send(body)
}

function refusalOf(error: FastifyError): RequestProblem | null {
  const known = refusals[error.code]
  if (known !== undefined) return new RequestProblem(...known)
  const [flaw] = error.validation ?? []
  if (flaw !== undefined) return invalidBody(flaw)
  const status = error.statusCode ?? 500
  return status < 500
    ? new RequestProblem(status, 'invalid_request', 'The request is not as it should be.')
    : null
}

function invalidBody(flaw: NonNullable<FastifyError['validation']>[number]): RequestProblem {
  const missing = flaw.params['missingProperty']
  const param = typeof missing === 'string' ? missing : flaw.instancePath.slice(1) || null
  const type = flaw.params['type']
  const what =
    flaw.keyword === 'type'
      ? `must be ${[type].flat().join(' or ')}`
      : flaw.keyword === 'required'
        ? 'is missing'
        : (flaw.message ?? 'is wrong')
  const message = `${param ?? 'The body'} ${what}.`
  return new RequestProblem(400, 'invalid_body', message, { param })
}
