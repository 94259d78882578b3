/** What somebody noted of a moment: "deployed v2". Charts mark it. */
export interface Note {
  readonly id: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** Keys in it are masked. */
  readonly text: string
}

/** The body of `GET /api/notes`. */
export interface NotesReport {
  /** The newest moment first. */
  readonly notes: readonly Note[]
  /** The file that keeps them. */
  readonly file: string
  /** What is wrong with it; null if it can be read. */
  readonly problem: string | null
}
