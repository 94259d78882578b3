import { upstreamChange } from '../../options/upstream-settings.ts'
import { type RouteTable, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'

/** `/api/upstreams`: further upstreams as they are set and found, and changing them. */
export function upstreamRoutes({ upstreams }: Pick<DashboardParts, 'upstreams'>): RouteTable {
  const report = () => upstreams.report()
  return {
    'GET /api/upstreams': route({}, report),
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
