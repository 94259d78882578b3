import { statSync } from 'node:fs'
import type { CallReader } from '../call/call-reader.ts'
import type { IsOver } from '../call/query-too-slow.ts'
import { openCallReader } from '../store/read/call-query.ts'
import { type HistoryReader, openHistoryReader, type PastReader } from '../store/read/history-reader.ts'
import { type StoreAbsence, absenceOf, absenceText } from '../store/sqlite/open-store.ts'
import { openServedReader, type ServedReader } from '../store/read/served-models.ts'
import type { StoreNote } from './answer-question.ts'
import { emptyHistory } from './empty-history.ts'
import { emptyReader } from './empty-reader.ts'
import { emptyServed } from './empty-served.ts'

interface Open {
  readonly calls: CallReader
  readonly history: HistoryReader
  readonly served: ServedReader
  /** Which file it is. */
  readonly identity: string
}

/** What can be read at the moment. */
export interface OpenStores {
  readonly calls: CallReader
  readonly history: PastReader
  readonly served: ServedReader
  /** Why nothing can be. */
  readonly note: StoreNote | null
}

/** The database at a path, as it is there each time it is asked for: made later, deleted, replaced or damaged. */
export class StoreFile {
  readonly #path: string
  readonly #isOver: IsOver
  #open: Open | null = null

  constructor(path: string, isOver: IsOver) {
    this.#path = path
    this.#isOver = isOver
  }

  /** Opened anew where the file is another one than before. */
  stores(): OpenStores {
    const identity = identityOf(this.#path)
    if (this.#open !== null && this.#open.identity !== identity) this.close()
    if (this.#open === null) {
      const opened = this.#opened(identity)
      if (typeof opened === 'string') return absent(opened)
      this.#open = opened
    }
    const { calls, history, served } = this.#open
    return { calls, history, served, note: null }
  }

  /** What to say in place of an error that SQLite raised over the file's state; null where it is another error. */
  absenceAfter(error: unknown): OpenStores | null {
    const absence = absenceOf(error)
    if (absence === null) return null
    this.close()
    return absent(absence)
  }

  close(): void {
    this.#open?.calls.close()
    this.#open?.history.close()
    this.#open?.served.close()
    this.#open = null
  }

  #opened(identity: string): Open | StoreAbsence {
    const calls = openCallReader(this.#path, this.#isOver)
    if (typeof calls === 'string') return calls
    const history = openHistoryReader(this.#path)
    if (typeof history === 'string') {
      calls.close()
      return history
    }
    const served = openServedReader(this.#path, this.#isOver)
    if (typeof served !== 'string') return { calls, history, served, identity }
    calls.close()
    history.close()
    return served
  }
}

function absent(absence: StoreAbsence): OpenStores {
  const note = { store: absence, note: absenceText[absence] }
  return { calls: emptyReader, history: emptyHistory, served: emptyServed, note }
}

/** A file that takes another's place has another number: that of an open one is not given away. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'none' : `${stat.dev} ${stat.ino}`
}
