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

/** Files that SQLite keeps beside a database, and would put into the next one of that name. */
const beside = ['-journal', '-wal', '-shm', '']

/** The file cannot be written. The message is for the person who named it. */
export class PartFileError extends Error {}

/**
 * A file that gets its name when it is complete. Until then it is `<name>.part`, readable by its owner only; disposing deletes that.
 * A killed process leaves at most the `.part` file, which the next export overwrites.
 */
export class PartFile implements Disposable {
  readonly #target: string
  readonly #file: number
  #isOpen = true
  /** The open file. */
  readonly path: string

  /** Throws {@link PartFileError} if the name is taken, and the system's errors. */
  constructor(target: string, { force }: { readonly force: boolean }) {
    const found = statSync(target, { throwIfNoEntry: false })
    // A device must not be replaced by a file.
    if (found?.isFile() === false) throw new PartFileError(`${target} is no file`)
    if (found !== undefined && !force) {
      throw new PartFileError(`${target} is there already; --force writes over it`)
    }
    const folder = dirname(target)
    if (!existsSync(folder))
      throw new PartFileError(`the folder ${folder} is not there: make it, or name another`)
    // SQLite would replay this log into the new file.
    if ((statSync(`${target}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) {
      throw new PartFileError(`${target} is a database in use: ${target}-wal is beside it`)
    }
    this.#target = target
    this.path = `${target}.part`
    this.#remove()
    this.#file = openSync(this.path, 'wx', 0o600)
  }

  /** Throws the system's errors: that the disk is full. */
  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at)
  }

  /** Gives it its name, once all of it is on the disk, and answers its size in bytes. Throws as the constructor does. */
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
