import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { flushFolder } from '../lib/files/replace-file.ts'

/** Suffixes of files that SQLite keeps beside a database. A left file would damage a new database of the same name. */
const beside = ['-journal', '-wal', '-shm', '']

/** The file cannot be written. The message is for people. */
export class PartFileError extends Error {
  readonly code = 'not_written'
}

/**
 * A file that gets its name when it is complete. Until then it is `<name>.part`, which only its owner can
 * read, and which disposing deletes. A killed process leaves at most the `.part` file, and the next export
 * overwrites it.
 */
export class PartFile implements Disposable {
  readonly #target: string
  readonly #file: number
  #isOpen = true
  /** The path of the `.part` file. */
  readonly path: string

  /**
   * Creates the `.part` file. Throws {@link PartFileError} if the target exists and `force` is false, or
   * cannot be a file; and the system's errors.
   */
  constructor(target: string, { force }: { readonly force: boolean }) {
    const stats = statSync(target, { throwIfNoEntry: false })
    // A file must not replace a device or a folder.
    if (stats?.isFile() === false) throw new PartFileError(`${target} is not a file`)
    if (stats !== undefined && !force) {
      throw new PartFileError(`${target} exists already; --force overwrites it`)
    }
    const folder = dirname(target)
    if (!existsSync(folder))
      throw new PartFileError(`the folder ${folder} does not exist: create it, or use another`)
    // SQLite would replay this log into the new file.
    if ((statSync(`${target}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      throw new PartFileError(`${target} is a database in use: ${target}-wal is beside it`)
    }
    this.#target = target
    this.path = `${target}.part`
    this.#remove()
    this.#file = openSync(this.path, 'wx', 0o600)
  }

  /** Appends bytes. Throws the system's errors, such as a full disk, with the path. */
  write(bytes: Uint8Array): void {
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at)
    } catch (error) {
      throw Object.assign(error as Error, { path: this.path })
    }
  }

  /**
   * Flushes the file to the disk, renames it to its target, and returns its size in bytes. Throws {@link
   * PartFileError} if another process writes the same `.part` file, and the system's errors.
   */
  publish(): number {
    fsyncSync(this.#file)
    const { ino, size } = fstatSync(this.#file)
    if (statSync(this.path, { throwIfNoEntry: false })?.ino !== ino) {
      throw new PartFileError(`${this.path} is being written by another process`)
    }
    renameSync(this.path, this.#target)
    this.#close()
    flushFolder(dirname(this.#target))
    return size
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return
    const { ino } = fstatSync(this.#file)
    this.#close()
    if (statSync(this.path, { throwIfNoEntry: false })?.ino === ino) this.#remove()
  }

  #remove(): void {
    for (const suffix of beside) rmSync(this.path + suffix, { force: true })
  }

  #close(): void {
    this.#isOpen = false
    closeSync(this.#file)
  }
}
