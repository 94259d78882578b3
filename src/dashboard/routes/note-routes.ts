import type { Note, NotesReport } from '../../api/notes.ts'
import type { Done } from './answer-shapes.ts'
import type { Clock } from '../../call/clock.ts'
import { newNote } from '../../supervisor/notes-file.ts'
import { type RoutesOf, jsonAnswer, route } from '../http/app.ts'
import type { DashboardParts } from './dashboard-parts.ts'
import { notesTable, timesOf } from './query-request.ts'

/** What each route answers, and the errors that it alone has. */
export interface NoteAnswers {
  /** What people noted of moments, the newest first: charts mark it. */
  'GET /api/notes': { readonly 200: NotesReport }
  /** Notes something, of now unless told. @fails broken_notes_file notes_not_kept notes_busy too_many_notes */
  'POST /api/notes': { readonly 201: Note }
  /** Deletes a note. @fails note_not_found broken_notes_file notes_not_kept notes_busy */
  'DELETE /api/notes/:id': { readonly 200: Done }
}

/** `/api/notes`: what people noted of a moment. */
export function noteRoutes({ notes }: Pick<DashboardParts, 'notes'>, clock: Clock): RoutesOf<NoteAnswers> {
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
