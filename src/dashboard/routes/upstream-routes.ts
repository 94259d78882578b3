import { testedUpstream, upstreamChange } from '../../options/upstream-settings.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'

/** `/api/upstreams`: all upstreams with their state, and changes of the further ones. */
export function upstreamRoutes({
  upstreams,
  models,
  testUpstream,
}: Pick<DashboardDeps, 'upstreams' | 'models' | 'testUpstream'>): RouteTable {
  const report = () => upstreams.report()
  return {
    /** All upstreams: their settings, and their state in the running gateway. */
    'GET /api/upstreams': route({ answer: 'UpstreamsReport' }, report),
    /** The models that the default upstream lists without a key; empty if it lists none. */
    'GET /api/models': route({ answer: 'ModelsReport' }, async () => ({ models: await models() })),
    /**
     * Asks each address for its models, over the same proxy as calls and without a key, and describes the
     * answers. Changes nothing.
     */
    'POST /api/upstreams/test': route(
      { answer: 'UpstreamTest', body: testedUpstream },
      async (_, { body: { urls } }) => ({ tests: await Promise.all(urls.map(testUpstream)) }),
    ),
    /** Adds or changes an upstream: sets the given members, removes those that are null. Applies at once. Only the command can give it a key of the gateway. @fails invalid_upstream key_not_lent broken_upstreams_file upstreams_not_kept upstreams_busy */
    'PUT /api/upstreams/:name': route(
      { answer: 'UpstreamsReport', body: upstreamChange },
      async (c, { body }) => {
        await upstreams.change(c.req.param('name') ?? '', body, false)
        return report()
      },
    ),
    /**
     * Removes an upstream. Calls in progress there finish. @fails upstream_not_found invalid_upstream
     * broken_upstreams_file upstreams_not_kept upstreams_busy
     */
    'DELETE /api/upstreams/:name': route({ answer: 'UpstreamsReport' }, async (c) => {
      await upstreams.remove(c.req.param('name') ?? '')
      return report()
    }),
  }
}
