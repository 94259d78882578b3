import { rename, rm, writeFile } from 'node:fs/promises'
import { readText } from '../../lib/read-file.ts'
import { type MessageOf, isNumber, isOneOf, mapOf, readMessage, record } from '../../lib/message-shape.ts'

/**
 * How the upstream treats one of its paths. `unasked`: usage comes without being asked for. `kept`: it cannot be taken
 * out again. `refused`: the field is not known there. `needed`: usage was thought to come unasked, and did not.
 */
export type UsageTreatment = (typeof treatments)[number]

const treatments = ['unasked', 'kept', 'refused', 'needed'] as const
const isFile = mapOf(record({ learnedAtMs: isNumber, paths: mapOf(isOneOf(treatments)) }))
type MemoryFile = MessageOf<typeof isFile>

/** Upstreams change: what was learned longer ago is learned anew. */
const keptMs = 7 * 24 * 3_600_000
const mostUpstreams = 32

/** Memories of several upstreams write into one file, one after the other. */
let writing = Promise.resolve()

/**
 * Remembers over restarts, in a small file beside the database, how an upstream treats the wish for usage. Where the
 * file can be neither read nor written, it is remembered until the gateway ends.
 */
export class InjectionMemory {
  readonly #path: string
  readonly #upstream: string
  readonly #wallTime: () => number
  readonly #paths: Map<string, UsageTreatment>
  /** When the first of them was. */
  #learnedAtMs: number
  #written: string
  #hasChanged = false

  /** `upstream`: its base URL; what is known of others stays in the file. `wallTime` in Unix milliseconds. */
  constructor(path: string, upstream: string, wallTime: () => number) {
    this.#path = path
    this.#upstream = upstream
    this.#wallTime = wallTime
    const known = this.#parse(readOrEmpty(path))[upstream]
    this.#paths = new Map(Object.entries(known?.paths ?? {}))
    this.#learnedAtMs = known?.learnedAtMs ?? 0
    this.#written = this.#text()
  }

  /** All that was to be kept has been written, or cannot be. */
  get written(): Promise<void> {
    return writing
  }

  get(path: string): UsageTreatment | undefined {
    if (this.#paths.size > 0 && !isKept(this.#learnedAtMs, this.#wallTime())) this.#paths.clear()
    return this.#paths.get(path)
  }

  set(path: string, treatment: UsageTreatment): void {
    if (this.#paths.get(path) !== treatment) this.#hasChanged = true
    if (this.#paths.size === 0) this.#learnedAtMs = this.#wallTime()
    this.#paths.set(path, treatment)
  }

  forget(path: string): void {
    if (this.#paths.delete(path)) this.#hasChanged = true
  }

  /** Writes what has changed, beside the calls; nothing waits for it. */
  keep(): void {
    if (!this.#hasChanged) return
    this.#hasChanged = false
    if (this.#text() === this.#written) return
    this.#written = this.#text()
    writing = writing.then(() => this.#write()).catch(() => undefined)
  }

  async #write(): Promise<void> {
    const path = this.#path
    const others = Object.entries(this.#parse(readOrEmpty(path)))
      .filter(([name]) => name !== this.#upstream)
      .slice(1 - mostUpstreams)
    const own = [
      this.#upstream,
      { learnedAtMs: this.#learnedAtMs, paths: Object.fromEntries(this.#paths) },
    ] as const
    const temporary = `${path}.${process.pid}.new`
    const text = `${JSON.stringify(Object.fromEntries([...others, own]))}\n`
    // A link in its place is not followed.
    await rm(temporary, { force: true })
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' })
    await rename(temporary, path)
  }

  #parse(text: string): MemoryFile {
    const now = this.#wallTime()
    const entries = Object.entries(readMessage(text, isFile) ?? {})
    return Object.fromEntries(entries.filter(([, { learnedAtMs }]) => isKept(learnedAtMs, now)))
  }

  #text(): string {
    return this.#paths.size === 0 ? '' : JSON.stringify([this.#learnedAtMs, ...this.#paths])
  }
}

function isKept(learnedAtMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - learnedAtMs) < keptMs
}

function readOrEmpty(path: string): string {
  try {
    return readText(path)
  } catch {
    return ''
  }
}
