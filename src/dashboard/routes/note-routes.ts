import type { Clock } from '../../call/clock.ts'
import { newNote } from '../../supervisor/notes-file.ts'
import { type RouteTable, jsonAnswer, route } from '../http/app.ts'
import type { DashboardDeps } from './dashboard-deps.ts'
import { notesTable, timesOf } from './query-request.ts'

/** `/api/notes`: notes of users on moments. */
export function noteRoutes({ notes }: Pick<DashboardDeps, 'notes'>, clock: Clock): RouteTable {
  return {
    /** Notes on moments, newest first. Charts mark them. */
    'GET /api/notes': route({ answer: 'NotesReport', query: notesTable }, (_, { query }) => {
      const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = timesOf(query)
      return notes.report({ fromMs, toMs })
    }),
    /** Adds a note (default time: now). @fails broken_notes_file notes_not_kept notes_busy too_many_notes */
    'POST /api/notes': route({ answer: { 201: 'Note' }, body: newNote }, async (c, { body: { text, at } }) =>
      jsonAnswer(c, await notes.add(text, at === undefined ? clock.wallTime() : Date.parse(at)), 201),
    ),
    /** Deletes a note. @fails note_not_found broken_notes_file notes_not_kept notes_busy */
    'DELETE /api/notes/:id': route({ answer: 'Done' }, async (c) => {
      await notes.remove(c.req.param('id') ?? '')
      return { success: true }
    }),
  }
}
