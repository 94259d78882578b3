import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { type JsonPath, placeInJson, readJson } from '../json/json-text.ts'
import { CodedError, codeOf, reasonOf } from '../lib/errors.ts'
import { changeFile } from '../lib/files/change-file.ts'
import { flawOf } from '../lib/files/file-rights.ts'
import { readText } from '../lib/files/read-file.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import { JsonValueError, type Schema, checked, pathText } from './schema.ts'

type FileTopic = 'alerts' | 'clients' | 'notes' | 'upstreams'

/** Why a file was not changed: it is broken, cannot be written, is being changed, or would become invalid. */
export class JsonFileError extends CodedError<
  | `broken_${FileTopic}_file`
  | `${FileTopic}_not_kept`
  | `${FileTopic}_busy`
  | 'invalid_client'
  | 'invalid_upstream'
  | 'invalid_body'
> {}

/** The kind of a file, and its schema. */
export interface FileForm<T> {
  readonly topic: FileTopic
  readonly schema: Schema<T>
  /** The content without a file. */
  readonly empty: T
  /** The error for a change that would make the content invalid; absent if no change can. */
  readonly invalid?: {
    readonly code: 'invalid_client' | 'invalid_upstream' | 'invalid_body'
    /** The wrong parameter, by the path to the wrong value. */
    readonly paramOf: (path: JsonPath) => string
  }
}

/** Most characters of a flaw, because names in the file are part of it. */
const longestFlaw = 1000

/**
 * A JSON file that people may edit; writing it makes it private to its owner. While the file is broken, the
 * last valid content stays in force, also after a restart, because a copy is beside the file as `*.good`.
 * While the file is missing, as with some editors for a moment, that content stays in force until the next
 * start.
 */
export abstract class ValidatedJsonFile<T extends object> {
  readonly path: string
  readonly #form: FileForm<T>
  /** The text that was read last; null without a file, undefined before the first read. */
  #lastText: string | null | undefined
  content: T
  /** The fault of the file; null if it is valid, or never existed. */
  problem: string | null = null
  #isGone = false

  constructor(path: string, form: FileForm<T>) {
    this.path = path
    this.#form = form
    this.content = form.empty
  }

  /**
   * Reads the file again. Returns true if it has changed. With `ownOnly`, a file that another user could have
   * written counts as broken. Never throws.
   */
  reloadIfChanged({ ownOnly = false }: { readonly ownOnly?: boolean } = {}): boolean {
    const { empty } = this.#form
    const reading = readIfThere(this.path, ownOnly)
    const text = reading instanceof Error ? String(reading) : reading
    if (text === this.#lastText) return false
    const isFirst = this.#lastText === undefined
    this.#lastText = text
    this.#isGone = reading === null && !isFirst
    if (this.#isGone) {
      const isEmpty = JSON.stringify(this.content) === JSON.stringify(empty)
      this.problem = isEmpty ? null : `${this.path} was deleted; the next start will not use it.`
      return true
    }
    const read = reading instanceof Error ? reading : this.#contentIn(reading)
    this.problem = read instanceof Error ? `${this.path}${read.message.slice(0, longestFlaw)}` : null
    if (!(read instanceof Error)) {
      this.content = read
      this.#saveLastValid(reading === null)
    } else if (isFirst) {
      const good = readIfThere(this.#goodPath, ownOnly)
      const content = typeof good === 'string' ? this.#contentIn(good) : empty
      this.content = content instanceof Error ? empty : content
    }
    return true
  }

  /**
   * Writes the changed content, one process at a time. Rejects with {@link JsonFileError}; a broken file is
   * never overwritten.
   */
  protected async update(changed: (content: T) => T): Promise<void> {
    const { topic } = this.#form
    const refusal = (why: 'busy' | 'not_kept', message: string): JsonFileError =>
      new JsonFileError(`${topic}_${why}`, message)
    await changeFile(this.path, { refusal }, (replace) => {
      this.reloadIfChanged()
      if (this.problem !== null && !this.#isGone) {
        throw new JsonFileError(`broken_${topic}_file`, `${this.problem} Fix the file first.`)
      }
      replace(`${JSON.stringify(this.#checked(changed(this.content)), null, 2)}\n`)
      this.reloadIfChanged()
    })
  }

  #checked(content: T): T {
    const { schema, invalid } = this.#form
    try {
      return checked(schema, content)
    } catch (error) {
      if (!(error instanceof JsonValueError) || invalid === undefined) throw error
      const words = `${pathText(error.path)} ${error.flaw}`.trim()
      throw new JsonFileError(invalid.code, `${words}.`, { param: invalid.paramOf(error.path) })
    }
  }

  get #goodPath(): string {
    return `${this.path}.good`
  }

  #saveLastValid(isEmpty: boolean): void {
    try {
      const text = JSON.stringify(this.content)
      if (isEmpty) rmSync(this.#goodPath, { force: true })
      // A copy by another user, who may only be reading, would belong to that user.
      else if (readIfThere(this.#goodPath, false) !== text) replaceFile(this.#goodPath, text)
    } catch {
      // The content is in force without the copy, too.
    }
  }

  /** The content of a text; an Error whose message follows the file's name if it is wrong. */
  #contentIn(text: string | null): T | Error {
    if (text === null) return this.#form.empty
    const reading = readJson(text)
    const flawAt = (line: number | null, column: number | null, words: string): Error =>
      new Error(`${line === null ? '' : `, line ${line}, column ${column ?? 1}`}: ${words}`)
    if ('message' in reading) return flawAt(reading.line, reading.column, reading.message)
    try {
      return checked(this.#form.schema, reading.value)
    } catch (error) {
      if (!(error instanceof JsonValueError)) throw error
      const { path, flaw, at } = error
      const { line, column } = placeInJson(text, path, at)
      return flawAt(line, column, `${path.length === 0 ? 'The file' : pathText(path)} ${flaw}.`)
    }
  }
}

/** A file that another user could have written. */
class ForeignFileError extends Error {}

/** The text of a file; null without a file. */
function readIfThere(path: string, ownOnly: boolean): string | null | Error {
  try {
    return readText(path, undefined, (stats) => {
      const flaw = ownOnly ? flawOf(stats, resolve(path)) : null
      if (flaw !== null) throw new ForeignFileError(` ${flaw.what}; ${flaw.remedy}.`)
    })
  } catch (error) {
    if (error instanceof ForeignFileError) return error
    return codeOf(error) === 'ENOENT' ? null : new Error(` cannot be read: ${reasonOf(error)}.`)
  }
}
