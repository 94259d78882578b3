import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { placeInJson, readJson } from '../json/json-text.ts'
import { codeOf, messageOf } from '../lib/errors.ts'
import { takeFileLock } from '../lib/file-lock.ts'
import { replaceFile } from '../lib/replace-file.ts'
import { type JsonCheck, JsonValueError, pathText } from './json-check.ts'

/** Why a file was not changed: somebody has to mend it first, or it cannot be written. */
export type NotChanged = 'broken' | 'not_kept'

const lockLimitMs = 5000

/**
 * A JSON file that anybody may edit, made private to its owner when it is written here. While it is broken, the last
 * content that could be read holds, also after a restart: it is kept beside the file, as `*.good`.
 */
export abstract class CheckedFile<T extends object> {
  readonly path: string
  readonly #check: JsonCheck<T>
  readonly #empty: T
  /** The text that was read last; null if there was no file. */
  #seen: string | null | undefined
  content: T
  /** What is wrong with the file; null if it can be read, or there is none. */
  problem: string | null = null

  /** `empty` is the content of no file. */
  constructor(path: string, check: JsonCheck<T>, empty: T) {
    this.path = path
    this.#check = check
    this.#empty = empty
    this.content = empty
  }

  /** Reads the file again; says if it is another one than before. Never throws. */
  look(): boolean {
    const reading = readText(this.path)
    const text = reading instanceof Error ? String(reading) : reading
    if (text === this.#seen) return false
    const isFirst = this.#seen === undefined
    this.#seen = text
    const read = reading instanceof Error ? reading : this.#contentIn(reading)
    this.problem = read instanceof Error ? `${this.path}${read.message}` : null
    if (!(read instanceof Error)) {
      this.content = read
      this.#keepGood(reading === null)
    } else if (isFirst) {
      const good = readText(this.#goodPath)
      const content = typeof good === 'string' ? this.#contentIn(good) : this.#empty
      this.content = content instanceof Error ? this.#empty : content
    }
    return true
  }

  /** The error to be thrown. */
  protected abstract refusal(why: NotChanged, message: string): Error

  /** Has one process at a time change the file; null if another one does. Rejects with {@link refusal}. */
  protected async lock(): Promise<Disposable | null> {
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      return await takeFileLock(`${this.path}.lock`, lockLimitMs)
    } catch (error) {
      throw this.refusal('not_kept', `${this.path} cannot be written: ${messageOf(error)}.`)
    }
  }

  /** Writes what is made of the present content. Throws {@link refusal}: nothing writes over a file that is to be mended. */
  protected write(changed: (content: T) => T): void {
    this.look()
    if (this.problem !== null) throw this.refusal('broken', `${this.problem} It has to be mended first.`)
    const text = `${JSON.stringify(changed(this.content), null, 2)}\n`
    try {
      replaceFile(this.path, text)
    } catch (error) {
      throw this.refusal('not_kept', `${this.path} cannot be written: ${messageOf(error)}.`)
    }
    this.look()
  }

  get #goodPath(): string {
    return `${this.path}.good`
  }

  #keepGood(isEmpty: boolean): void {
    try {
      const text = JSON.stringify(this.content)
      if (isEmpty) rmSync(this.#goodPath, { force: true })
      // Another user may only be looking, and would make it his.
      else if (readText(this.#goodPath) !== text) replaceFile(this.#goodPath, text)
    } catch {
      // It holds without it, too.
    }
  }

  /** The message of an error goes behind the file's name. */
  #contentIn(text: string | null): T | Error {
    if (text === null) return this.#empty
    const content = text.replace(/^\uFEFF/, '')
    const reading = readJson(content)
    const flawAt = (line: number | null, column: number | null, words: string): Error =>
      new Error(`${line === null ? '' : `, line ${line}, column ${column ?? 1}`}: ${words}`)
    if ('message' in reading) return flawAt(reading.line, reading.column, reading.message)
    try {
      return this.#check(reading.value)
    } catch (error) {
      if (!(error instanceof JsonValueError)) throw error
      const { path, flaw, at } = error
      const { line, column } = placeInJson(content, path, at)
      return flawAt(line, column, `${path.length === 0 ? 'The file' : pathText(path)} ${flaw}.`)
    }
  }
}

/** Null if there is no file. */
function readText(path: string): string | null | Error {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? null : new Error(` cannot be read: ${messageOf(error)}.`)
  }
}
