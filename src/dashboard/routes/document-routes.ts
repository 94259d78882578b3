import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { orNullIfMissing } from '../../lib/errors.ts'
import { answerContent } from '../http/content.ts'
import { RequestError } from '../http/request-error.ts'
import { type AnyRoute, type RouteTable, route } from '../http/app.ts'

/** The build's folder. The path is right for the source and for the built file. */
const built = new URL('../../../dist/', import.meta.url)

/** The OpenAPI documents of the API and of the gateway's own routes, written by `build/openapi.ts`. */
export const documentRoutes: RouteTable = {
  /** The OpenAPI document of this API. @fails document_not_built */
  'GET /openapi.json': document('openapi.json'),
  /** The document of the gateway's own routes, which are on its own port. @fails document_not_built */
  'GET /openapi/gateway.json': document('openapi-gateway.json'),
}

function document(name: string): AnyRoute {
  // Read once, at the start, because an update may replace the file later.
  const body = orNullIfMissing(() => readFileSync(new URL(name, built)))
  return route({ answer: 'ApiDocument' }, (c) => {
    if (body === null) throw new RequestError('document_not_built', notBuilt)
    return answerContent(c, {
      headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-cache' },
      tag: createHash('sha256').update(body).digest('base64url').slice(0, 22),
      body,
      packed: () => undefined,
    })
  })
}

const notBuilt = 'The document is not built. In a clone, run `npm run build:openapi`.'
