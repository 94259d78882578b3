import type { Clock } from '../../call/clock.ts'
import { newNote } from '../../supervisor/notes-file.ts'
import { type RouteTable, jsonAnswer, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { notesTable, timesOf } from './query-request.ts'

/** `/api/notes`: what people noted of a moment. */
export function noteRoutes({ notes }: Pick<DashboardParts, 'notes'>, clock: Clock): RouteTable {
  return {
    'GET /api/notes': route({ query: notesTable }, (_, { query }) => {
      const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = timesOf(query)
      return notes.report({ fromMs, toMs })
    }),
    'POST /api/notes': route({ body: newNote }, async (c, { body: { text, at } }) =>
      jsonAnswer(c, await notes.add(text, at === undefined ? clock.wallTime() : Date.parse(at)), 201),
    ),
    'DELETE /api/notes/:id': route({}, async (c) => {
      await notes.remove(c.req.param('id') ?? '')
      return { success: true }
    }),
  }
}
