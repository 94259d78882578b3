import { type Content, answerContent } from '../http/content.ts'
import type { Guard } from '../http/guard.ts'
import { type PageAssets, pagePaths, partsOf } from '../http/page-assets.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { SignIn } from '../http/sign-in.ts'

/** File names end with a hash of the content, so a browser may cache them for ever. */
const forEver = 'public, max-age=31536000, immutable'

/** The paths that need no token: the views, signing in, and the files of the sign-in page. */
export function openPaths(assets: PageAssets): ReadonlySet<string> {
  const parts = [...partsOf(assets, 'sign-in.html')].map((name) => `/${name}`)
  return new Set([...pagePaths, '/api/session', ...parts])
}

/**
 * The views and `/assets/…`. The page itself reads a view's query, except for the code of a sign-in link.
 * `signIn` is null without an admin token.
 */
export function pageRoutes(assets: PageAssets, guard: Guard, signIn: SignIn | null): RouteTable {
  const view = route(
    { answer: { '200 text/html': null, '401 text/html': null }, query: null },
    async (c, { query: { token: code } }) => {
      const isLink = typeof code === 'string' && signIn !== null && c.req.method === 'GET'
      const cookie = isLink ? signIn.byCode(code) : null
      if (cookie === null && (await guard.demandsSignIn(c.env.incoming))) {
        return answerContent(c, contentOf('sign-in.html', 'no-store'), 401)
      }
      if (isLink) return c.body(continuePage, 200, goOnHeaders(cookie))
      return answerContent(c, contentOf('index.html', 'no-cache'))
    },
  )
  return {
    /** Overview: is all well, and what changed. @fails page_not_built */
    'GET /': view,
    /** Compare: models, clients or upstreams side by side. @fails page_not_built */
    'GET /compare': view,
    /** Calls: which calls exactly. @fails page_not_built */
    'GET /calls': view,
    /** Sessions: the runs of agents, and conversations. @fails page_not_built */
    'GET /sessions': view,
    /** Live: calls as they begin and end. @fails page_not_built */
    'GET /live': view,
    /** Costs: where the money goes. @fails page_not_built */
    'GET /costs': view,
    /** Gateway: its process, upstreams and log. @fails page_not_built */
    'GET /gateway': view,
    /** Alerts: rules, active alerts, and their receiver. @fails page_not_built */
    'GET /alerts': view,
    /** Settings: options, limits of clients, database. @fails page_not_built */
    'GET /settings': view,
    /** A file of the page. @fails page_not_built */
    'GET /assets/:name': route({ answer: { '200 */*': null }, query: null }, (c) =>
      answerContent(c, contentOf(`assets/${c.req.param('name')}`, forEver)),
    ),
  }

  function contentOf(name: string, cacheControl: string): Content {
    const asset = assets.get(name)
    if (asset === undefined) {
      if (assets.size > 0) throw new RequestError('not_found', 'The page has no such file.')
      throw new RequestError('page_not_built', notBuilt)
    }
    return {
      headers: { 'Cache-Control': cacheControl, 'Content-Type': asset.contentType },
      tag: cacheControl === 'no-store' ? null : asset.tag,
      body: asset.content,
      packed: (coding) => asset[coding],
    }
  }
}

const notBuilt =
  'The page is not built. In a clone, run `npm run build:page`, then restart the dashboard. ' +
  'The API under /api/ works without it.'

/**
 * A page that loads itself again, without the sign-in code in its address. A redirect would not work: if a
 * link on another site led here, browsers send no Strict cookie with a redirect.
 */
const continuePage =
  '<!doctype html><html lang="en"><title>tokenweir</title><p><a href="/">Go on</a></p></html>'

function goOnHeaders(cookie: string | null): Record<string, string> {
  const headers = { 'Content-Type': 'text/html; charset=utf-8', Refresh: '0; url=/' }
  return cookie === null ? headers : { ...headers, 'Set-Cookie': cookie }
}
