import { constants, copyFileSync, existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { isWritable } from '../../lib/files/file-rights.ts'
import { TemporaryFolder } from '../../lib/files/temporary-folder.ts'

/** https://sqlite.org/fileformat2.html#walformat: SQLite makes `-wal` and `-shm` beside a file in this mode, also to read it. */
const logSuffix = '-wal'
const indexSuffix = '-shm'

/** A database of another program, opened for reading. Neither the file nor its folder is changed; both may be read-only. */
export class ForeignDatabase implements Disposable {
  readonly database: DatabaseSync
  readonly #path: string
  /** The folder with a copy of file and log; null if the original is read. */
  readonly #folder: TemporaryFolder | null
  /** The state of a file that is read without locks; null if locks are used. */
  readonly #state: string | null

  /**
   * Waits up to `busyMs` for locks. With `mayCopy`, file and log are copied if the log cannot be read in
   * place; else the file alone is read. Throws SQLite's error.
   */
  constructor(path: string, busyMs: number, { mayCopy }: { readonly mayCopy: boolean }) {
    this.#path = path
    const hasIndex = existsSync(path + indexSuffix)
    const hasLog = existsSync(path + logSuffix) && (hasIndex || bytesOf(path + logSuffix) > 0)
    // While the file is open elsewhere, also in this process, its locks must be respected.
    const isLocked = (hasLog && hasIndex && isWritable(dirname(path))) || bytesOf(`${path}-journal`) > 0
    this.#folder = hasLog && !isLocked && mayCopy ? copyOf(path) : null
    this.#state = isLocked || this.#folder !== null ? null : stateOf(path)
    const copy = this.#folder === null ? null : join(this.#folder.path, 'copy.db')
    const location =
      copy ?? (this.#state === null ? path : new URL(`${pathToFileURL(path).href}?immutable=1`))
    try {
      this.database = new DatabaseSync(location, { readOnly: copy === null, timeout: busyMs })
    } catch (error) {
      this.#folder?.[Symbol.dispose]()
      throw error
    }
  }

  /** True if a file that is read without locks was written to: the rows read may be of two states. */
  get hasChanged(): boolean {
    return this.#state !== null && this.#state !== stateOf(this.#path)
  }

  [Symbol.dispose](): void {
    this.database.close()
    this.#folder?.[Symbol.dispose]()
  }
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function stateOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path)
  return [ino, size, mtimeMs, bytesOf(path + logSuffix), bytesOf(`${path}-journal`)].join()
}

/** Copies a file and its log to a folder of this process. */
function copyOf(path: string): TemporaryFolder {
  using stack = new DisposableStack()
  const folder = stack.use(new TemporaryFolder('tokenweir-import-'))
  for (const suffix of ['', logSuffix])
    copyFileSync(path + suffix, join(folder.path, `copy.db${suffix}`), constants.COPYFILE_FICLONE)
  stack.move()
  return folder
}
