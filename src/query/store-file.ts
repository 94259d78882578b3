import { statSync } from 'node:fs'
import type { StoreReader } from '../call/call-reader.ts'
import type { IsOver } from '../call/query-too-slow.ts'
import { callReader, openCallReader } from '../store/read/call-query.ts'
import { type StoreAbsence, absenceOf, absenceText, openEmpty } from '../store/sqlite/open-store.ts'

/** A note on the store, if it cannot be read. */
export interface StoreNote {
  readonly store: string
  readonly note: string
}

/** What can be read at the moment, and why nothing can be. */
export interface OpenStore {
  readonly store: StoreReader
  readonly note: StoreNote | null
}

/** Stands in if there is no database to read: every answer is as if no call had ever been recorded, and no gateway had run. */
export const emptyStore: StoreReader = callReader(openEmpty())

/** The database at a path, as it is there each time it is asked for: made later, deleted, replaced or damaged. */
export class StoreFile {
  readonly #path: string
  readonly #isOver: IsOver
  #open: { readonly store: StoreReader; readonly identity: string } | null = null

  constructor(path: string, isOver: IsOver) {
    this.#path = path
    this.#isOver = isOver
  }

  /** Opened anew if the file is another one than before. */
  store(): OpenStore {
    const identity = identityOf(this.#path)
    if (this.#open !== null && this.#open.identity !== identity) this.close()
    if (this.#open === null) {
      const store = openCallReader(this.#path, this.#isOver)
      if (typeof store === 'string') return absent(store)
      this.#open = { store, identity }
    }
    return { store: this.#open.store, note: null }
  }

  /** What to say in place of an error that SQLite raised over the file's state; null if it is another error. */
  absenceAfter(error: unknown): OpenStore | null {
    const absence = absenceOf(error)
    if (absence === null) return null
    this.close()
    return absent(absence)
  }

  close(): void {
    this.#open?.store.close()
    this.#open = null
  }
}

function absent(absence: StoreAbsence): OpenStore {
  return { store: emptyStore, note: { store: absence, note: absenceText[absence] } }
}

/** A file that takes another's place has another number: that of an open one is not given away. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.dev} ${stat.ino}`
}
