import type { FastifyInstance } from 'fastify'
import { RequestProblem } from './request-problem.ts'

/**
 * Bodies are JSON and say so. A form, or text that merely looks like JSON, is what another site's page could send
 * without asking first. An empty body is none, whatever it is said to be.
 */
export function takeJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>('*', { parseAs: 'string' }, (request, text, done) => {
    if (text === '' || request.is404) done(null, undefined)
    else if (request.mediaType === 'application/json') void parse(request, text, done)
    else done(new RequestProblem(415, 'unsupported_media_type', 'A body must be application/json.'))
  })
}
