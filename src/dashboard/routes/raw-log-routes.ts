import * as v from 'valibot'
import { count } from '../../lib/number-format.ts'
import { be, object } from '../../options/schema.ts'
import { integer } from '../../options/value-kind.ts'
import { json } from '../http/answer.ts'
import { or } from '../http/query-parameters.ts'
import { type RouteTable, expectOwnConnection, route, sendStream } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import { answerQuery } from './query-reply.ts'

const mostSeconds = 604_800

/** The times for which a request may switch the log on, in seconds. */
const seconds = `a number above 0 and up to ${count(mostSeconds)}, or null`
const toggleOrder = object({
  enabled: v.boolean(),
  for_s: v.optional(
    v.nullable(
      v.pipe(v.number(be(seconds)), v.gtValue(0, be(seconds)), v.maxValue(mostSeconds, be(seconds))),
    ),
  ),
})

const eventStream = { 'Content-Type': 'text/event-stream; charset=utf-8' }

/** `/api/raw-log/…`: requests to the gateway. If no gateway runs, the files are read instead. */
export function rawLogRoutes({ rawLog, queries }: Pick<DashboardDeps, 'queries' | 'rawLog'>): RouteTable {
  return {
    /** The log of payloads: whether it is on, and its size. @fails gateway_silent */
    'GET /api/raw-log/status': route({ answer: 'RawLogStatus' }, () => rawLog.status()),
    /** Switches the log of payloads. @fails not_running gateway_silent */
    'POST /api/raw-log/toggle': route({ answer: 'RawLogSwitched', body: toggleOrder }, (_, { body }) =>
      rawLog.toggle(body),
    ),
    /** Deletes all logged payloads. @fails gateway_silent */
    'POST /api/raw-log/clear': route({ answer: 'Done' }, () => rawLog.clear()),
    /** The newest records of the log of payloads. @fails gateway_silent too_busy too_slow query_interrupted */
    'GET /api/raw-log/recent': route(
      { answer: 'RecentPayloads', query: { limit: or(integer(1, 1000), 50) } },
      async (c, { query: { limit } }) => {
        const relayed = await rawLog.recent(limit)
        if (relayed !== null) return sendStream(c, relayed, { 'Content-Type': json })
        const { filePath } = await rawLog.readState()
        const outcome = await queries.ask({ kind: 'recent_payloads', filePath, limit })
        return answerQuery(c, outcome, { isPrivate: true })
      },
    ),
    /** The gateway's feed of payloads: server-sent events. @fails not_running gateway_silent too_many_readers pipelined_stream */
    'GET /api/raw-log/stream': route({ answer: { '200 text/event-stream': 'RawLogEvent' } }, async (c) => {
      expectOwnConnection(c.env.outgoing)
      // HEAD opens no stream, because nothing would end it.
      if (c.req.method === 'HEAD') return c.body(null, 200, eventStream)
      // The dashboard buffers nothing: back-pressure of a slow reader reaches the gateway, which handles it.
      return sendStream(c, await rawLog.stream(), { ...eventStream, 'X-Accel-Buffering': 'no' })
    }),
  }
}
