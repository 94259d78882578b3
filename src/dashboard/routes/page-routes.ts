import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { codingFor } from '../http/content-coding.ts'
import { entityTag, isKnown } from '../http/entity-tag.ts'
import type { Guard } from '../http/guard.ts'
import type { Asset, PageAssets } from '../http/page-assets.ts'
import { pagePaths } from '../http/page-paths.ts'
import { RequestProblem } from '../http/request-problem.ts'
import { addRoutes } from '../http/route-table.ts'
import type { SignIn } from '../http/sign-in.ts'

/** Names of files end with a hash of their content: under one name it is always the same. */
const forEver = 'public, max-age=31536000, immutable'

/** What signing in takes, and what the sign-in page is made of: these need no token. */
export function openPaths(assets: PageAssets): ReadonlySet<string> {
  const parts = [...assets.partsOf('sign-in.html')].map((name) => `/${name}`)
  return new Set([...pagePaths, '/api/session', ...parts])
}

/** What the routes of the page need. */
export interface PageRoutesOptions {
  readonly assets: PageAssets
  readonly guard: Guard
  /** Null where there is no admin token. */
  readonly signIn: SignIn | null
}

/** The views and `/assets/…`. A view's query is the page's own, but for the code of a sign-in link. */
export function addPageRoutes(app: FastifyInstance, { assets, guard, signIn }: PageRoutesOptions): void {
  for (const path of pagePaths) {
    addRoutes(app, path, {
      GET: {
        body: null,
        handle: async (request, reply) => {
          const { token: code } = request.query as Record<string, unknown>
          const isLink = typeof code === 'string' && signIn !== null && request.method === 'GET'
          const cookie = isLink ? signIn.byCode(code) : null
          if (cookie !== null) reply.header('set-cookie', cookie)
          else if (await guard.demandsSignIn(request.raw)) return send(reply.code(401), 'sign-in.html')
          if (isLink) return goOn(reply)
          reply.header('cache-control', 'no-cache')
          return sendUnlessKnown(request, reply, 'index.html')
        },
      },
    })
  }
  addRoutes(app, '/assets/:name', {
    GET: {
      body: null,
      handle: (request, reply) => {
        const name = `assets/${(request.params as { readonly name: string }).name}`
        if (assets.get(name) !== undefined) reply.header('cache-control', forEver)
        return sendUnlessKnown(request, reply, name)
      },
    },
  })

  function send(reply: FastifyReply, name: string): FastifyReply {
    const { contentType, content, packed, tag } = assetOf(name)
    const coding = codingFor(reply.request.headers['accept-encoding']?.toString())
    const body = coding === null ? undefined : packed.get(coding)
    reply.type(contentType).header('etag', entityTag(tag, body === undefined ? null : coding))
    if (packed.size > 0) reply.header('vary', 'Accept-Encoding')
    if (body === undefined || coding === null) return reply.send(content)
    return reply.header('content-encoding', coding).send(body)
  }

  /** A browser that has the file already is told so. */
  function sendUnlessKnown(request: FastifyRequest, reply: FastifyReply, name: string): FastifyReply {
    const { tag } = assetOf(name)
    if (!isKnown(request.headers['if-none-match'], tag)) return send(reply, name)
    return reply.header('etag', entityTag(tag, null)).code(304).send()
  }

  function assetOf(name: string): Asset {
    const asset = assets.get(name)
    if (asset !== undefined) return asset
    if (assets.isBuilt) throw new RequestProblem(404, 'not_found', 'The page has no such file.')
    throw new RequestProblem(503, 'page_not_built', notBuilt)
  }
}

const notBuilt =
  'The page is not built, as in a fresh clone: run `npm run build:page`, then start the dashboard anew. ' +
  'Everything under /api/ works without it.'

/**
 * The page asks for itself once more, without the code in its address. A redirect would not do: a browser that
 * was led here by a link elsewhere sends no Strict cookie along a redirect, as that still began on another site.
 */
function goOn(reply: FastifyReply): FastifyReply {
  const page = '<!doctype html><html lang="en"><title>tokenweir</title><p><a href="/">Go on</a></p></html>'
  return reply.header('refresh', '0; url=/').type('text/html; charset=utf-8').send(page)
}
