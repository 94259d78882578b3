import * as v from 'valibot'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Note, NotesReport } from '../api/notes.ts'
import { CodedError } from '../lib/errors.ts'
import { ValidatedJsonFile } from '../options/validated-json-file.ts'
import { be, mapOf, object, textLike } from '../options/schema.ts'
import { maskKeys } from '../secrets/key-shapes.ts'

type NotesById = Readonly<Record<string, Omit<Note, 'id'>>>

const mostNotes = 1000

const text = textLike(
  'a text of 1 to 200 characters without control characters',
  /^(?=.*\S)[^\p{Cc}]{1,200}$/u,
)
const time = 'a time in ISO 8601 with Z or an offset such as 2026-11-21T04:00:00Z'
const at = v.pipe(
  textLike(time, /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/),
  v.check((value) => Date.parse(value) >= 0, be(time)),
)

/** The body of a new note (default time: now). */
export const newNote = object({ text, at: v.optional(at) })

/** The file of notes, beside the database. */
export class NotesFile extends ValidatedJsonFile<NotesById> {
  constructor(folder: string) {
    super(join(folder, 'notes.json'), { topic: 'notes', schema: mapOf(object({ at, text })), empty: {} })
  }

  /** The notes from `fromMs` up to, but without, `toMs`. */
  report({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): NotesReport {
    this.reloadIfChanged()
    const notes = Object.entries(this.content)
      .map(([id, note]): Note => ({ id, at: new Date(note.at).toISOString(), text: note.text }))
      .filter((note) => Date.parse(note.at) >= fromMs && Date.parse(note.at) < toMs)
      .sort((a, b) => (a.at < b.at ? 1 : -1))
    return { notes, file: this.path, problem: this.problem }
  }

  /** Saves a note. Rejects with `CodedError`. */
  async add(text: string, atMs: number): Promise<Note> {
    const id = randomBytes(6).toString('hex')
    // A mask may be longer than the key, and the schema refuses longer texts.
    const masked = Array.from(maskKeys(text)).slice(0, 200).join('')
    const note = { at: new Date(atMs).toISOString(), text: masked }
    await this.update((notes) => {
      if (Object.keys(notes).length >= mostNotes) {
        throw new CodedError('too_many_notes', `There can be at most ${mostNotes} notes: delete some first.`)
      }
      return { ...notes, [id]: note }
    })
    return { id, ...note }
  }

  /** Rejects with `CodedError`. */
  async remove(id: string): Promise<void> {
    await this.update((notes) => {
      const others = Object.entries(notes).filter(([noteId]) => noteId !== id)
      if (others.length === Object.keys(notes).length) {
        throw new CodedError('note_not_found', `There is no note ${id.slice(0, 20)}.`, { param: 'id' })
      }
      return Object.fromEntries(others)
    })
  }
}
