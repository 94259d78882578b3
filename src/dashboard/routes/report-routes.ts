import type { CallGroups } from '../../api/calls.ts'
import type { Overview } from '../../api/overview.ts'
import type { Clock } from '../../call/clock.ts'
import type { OverviewQuestion } from '../../query/query-question.ts'
import type { PageAssets } from '../http/page-assets.ts'
import { RequestError } from '../http/request-error.ts'
import { type RouteTable, bytes, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import { jsonIn } from './query-reply.ts'
import { overviewQuestion, overviewTable } from './query-request.ts'

/** Most models or clients in a report: those with the most calls. */
const mostGroups = 50
/** The element of the built page that gets the figures. */
const place = '<script type="application/json" id="report">{}</script>'

/** `/api/report`: the figures of a range as one self-contained HTML file. */
export function reportRoutes(
  { queries, notes }: Pick<DashboardDeps, 'queries' | 'notes'>,
  assets: PageAssets,
  clock: Clock,
): RouteTable {
  const groupsBy = async (
    dimension: 'model' | 'client',
    { filter, timeZone }: OverviewQuestion,
  ): Promise<readonly unknown[]> => {
    const groups = { kind: 'groups', filter, time: null, dimension, timeZone } as const
    const answer = jsonIn(await queries.ask({ ...groups, format: 'json', measures: 'curves' }))
    return (answer as CallGroups).groups.slice(0, mostGroups)
  }
  return {
    /** The figures of a range as one self-contained HTML file. @fails page_not_built folded_range too_busy too_slow query_interrupted */
    'GET /api/report': route(
      { answer: { '200 text/html': null }, query: overviewTable },
      async (c, { query }) => {
        const page = assets.get('report.html')?.content.toString() ?? ''
        if (!page.includes(place)) throw new RequestError('page_not_built', notBuilt)
        const nowMs = clock.wallTime()
        const question = overviewQuestion(query, nowMs, (range) => notes.report(range).notes)
        const overview = jsonIn(await queries.ask(question)) as Overview
        const { from, to } = overview
        const fixedQuestion = {
          ...question,
          filter: { ...question.filter, fromMs: Date.parse(from), toMs: Date.parse(to) },
        }
        const report = {
          made_at: new Date(nowMs).toISOString(),
          query: c.env.incoming.url?.split(/\?(.*)/s, 2)[1] ?? '',
          overview,
          models: await groupsBy('model', fixedQuestion),
          clients: await groupsBy('client', fixedQuestion),
        }
        // Escaped, so that no name can end the element or begin a comment.
        const json = JSON.stringify(report).replaceAll('<', '\\u003c')
        const body = page.replace(place, () => place.replace('{}', () => json))
        const name = `tokenweir-report-${from.slice(0, 10)}-to-${to.slice(0, 10)}.html`
        return bytes(c, Buffer.from(body), {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Disposition': `attachment; filename="${name}"`,
          'Cache-Control': 'no-store',
        })
      },
    ),
  }
}

const notBuilt = 'The report is not built. In a clone, run `npm run build:page`, then restart the dashboard.'
