import type { Clock } from '../../call/clock.ts'
import { newNote } from '../../supervisor/notes-file.ts'
import { jsonAnswer } from '../http/answer.ts'
import { type RouteTable, route } from '../http/router.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { notesTable, timesOf } from './query-request.ts'

/** `/api/notes`: what people noted of a moment. */
export function noteRoutes({ notes }: Pick<DashboardParts, 'notes'>, clock: Clock): RouteTable {
  return {
    'GET /api/notes': route({ query: notesTable }, ({ query }) => {
      const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = timesOf(query)
      return notes.report({ fromMs, toMs })
    }),
    'POST /api/notes': route({ body: newNote }, async ({ body: { text, at } }) =>
      jsonAnswer(await notes.add(text, at === undefined ? clock.wallTime() : Date.parse(at)), 201),
    ),
    'DELETE /api/notes/:id': route({}, async ({ params: { id = '' } }) => {
      await notes.remove(id)
      return { success: true }
    }),
  }
}
