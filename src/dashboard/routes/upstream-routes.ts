import type { ModelsReport, UpstreamsReport } from '../../api/upstreams.ts'
import { upstreamChange } from '../../options/upstream-settings.ts'
import { type RoutesOf, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** What each route answers, and the errors that it alone has. */
export interface UpstreamAnswers {
  /** All upstreams: as they are set, and as the running gateway finds them. */
  'GET /api/upstreams': { readonly 200: UpstreamsReport }
  /** The models that the default upstream lists when it is asked without a key; none if it lists none. */
  'GET /api/models': { readonly 200: ModelsReport }
  /** Sets what is given of an upstream, takes away what is null, and adds one that there is not. In force at once. A key of the gateway's own is lent by the command alone. @fails invalid_upstream key_not_lent broken_upstreams_file upstreams_not_kept upstreams_busy */
  'PUT /api/upstreams/:name': { readonly 200: UpstreamsReport }
  /** Takes an upstream away; calls under way there end as they would. @fails upstream_not_found invalid_upstream broken_upstreams_file upstreams_not_kept upstreams_busy */
  'DELETE /api/upstreams/:name': { readonly 200: UpstreamsReport }
}

/** `/api/upstreams`: further upstreams as they are set and found, and changing them. */
export function upstreamRoutes({
  upstreams,
  models,
}: Pick<DashboardParts, 'upstreams' | 'models'>): RoutesOf<UpstreamAnswers> {
  const report = () => upstreams.report()
  return {
    'GET /api/upstreams': route({}, report),
    'GET /api/models': route({}, async () => ({ models: await models() })),
    'PUT /api/upstreams/:name': route({ body: upstreamChange }, async (c, { body }) => {
      await upstreams.change(c.req.param('name') ?? '', body, false)
      return report()
    }),
    'DELETE /api/upstreams/:name': route({}, async (c) => {
      await upstreams.remove(c.req.param('name') ?? '')
      return report()
    }),
  }
}
