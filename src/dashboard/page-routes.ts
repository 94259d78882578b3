import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Guard } from './guard.ts'
import type { PageAssets } from './page-assets.ts'
import { RequestProblem } from './request-problem.ts'
import { addRoutes } from './route-table.ts'
import type { SignIn } from './sign-in.ts'

/** What signing in takes, and what the sign-in page is made of: these need no token. */
export function openPaths(assets: PageAssets): ReadonlySet<string> {
  const parts = [...assets.partsOf('sign-in.html')].map((name) => `/assets/${name}`)
  return new Set(['/', '/api/session', ...parts])
}

/** What the routes of the page need. */
export interface PageRoutesOptions {
  readonly assets: PageAssets
  readonly guard: Guard
  /** Null where there is no admin token. */
  readonly signIn: SignIn | null
}

/** `/` and `/assets/…`. The query of `/` is the page's own, but for the code of a sign-in link. */
export function addPageRoutes(app: FastifyInstance, { assets, guard, signIn }: PageRoutesOptions): void {
  addRoutes(app, '/', {
    GET: {
      body: null,
      handle: (request, reply) => {
        const { token: code } = request.query as Record<string, unknown>
        const isLink = typeof code === 'string' && signIn !== null && request.method === 'GET'
        const cookie = isLink ? signIn.byCode(code) : null
        if (cookie !== null) reply.header('set-cookie', cookie)
        else if (guard.demandsSignIn(request.raw)) return send(reply.code(401), 'sign-in.html')
        return isLink ? goOn(reply) : send(reply, 'index.html', request)
      },
    },
  })
  addRoutes(app, '/assets/:name', {
    GET: {
      body: null,
      handle: (request, reply) => send(reply, (request.params as { readonly name: string }).name, request),
    },
  })

  /** Where `request` is given, a browser that has the file already is told so. */
  function send(reply: FastifyReply, name: string, request?: FastifyRequest): FastifyReply {
    const asset = assets.get(name)
    if (asset === undefined) throw new RequestProblem(404, 'not_found', 'The page has no such file.')
    if (request === undefined) return reply.type(asset.contentType).send(asset.content)
    reply.header('cache-control', 'no-cache').header('etag', asset.etag)
    if (request.headers['if-none-match'] === asset.etag) return reply.code(304).send()
    return reply.type(asset.contentType).send(asset.content)
  }
}

/**
 * The page asks for itself once more, without the code in its address. A redirect would not do: a browser that
 * was led here by a link elsewhere sends no Strict cookie along a redirect, as that still began on another site.
 */
function goOn(reply: FastifyReply): FastifyReply {
  const page = '<!doctype html><html lang="en"><title>tokenweir</title><p><a href="/">Go on</a></p></html>'
  return reply.header('refresh', '0; url=/').type('text/html; charset=utf-8').send(page)
}
