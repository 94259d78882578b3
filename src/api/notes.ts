import * as v from 'valibot'
import type { Infer } from '../call/infer.ts'

/** What somebody noted of a moment: "deployed v2". Charts mark it. */
export const Note = v.object({
  id: v.string(),
  /** ISO 8601, UTC. */
  at: v.string(),
  /** Keys in it are masked. */
  text: v.string(),
})

export type Note = Infer<typeof Note>

/** The body of `GET /api/notes`. */
export const NotesReport = v.object({
  /** The newest moment first. */
  notes: v.array(Note),
  /** The file that keeps them. */
  file: v.string(),
  /** What is wrong with it; null if it can be read. */
  problem: v.nullable(v.string()),
})

export type NotesReport = Infer<typeof NotesReport>
