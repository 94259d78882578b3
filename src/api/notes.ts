import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** A user's note on a moment ("deployed v2"), marked in charts. */
export const Note = v.object({
  id: v.string(),
  /** ISO 8601, UTC. */
  at: v.string(),
  /** The text, with keys masked. */
  text: v.string(),
})

export type Note = Infer<typeof Note>

/** The body of `GET /api/notes`. */
export const NotesReport = v.object({
  /** The notes, newest moment first. */
  notes: v.array(Note),
  /** The path of the file of notes. */
  file: v.string(),
  /** The error in the file; null if it is valid. */
  problem: v.nullable(v.string()),
})

export type NotesReport = Infer<typeof NotesReport>
