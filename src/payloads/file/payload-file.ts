import { statSync } from 'node:fs'
import { ActiveSegment, type NewLine } from './active-segment.ts'
import { OpenSegment } from './open-segment.ts'
import { seqOf } from './payload-line.ts'
import { listSegments, totalBytes } from './payload-segments.ts'
import { SegmentRotation } from './segment-rotation.ts'

export interface PayloadFileOptions {
  readonly filePath: string
  readonly segmentBytes: number
  /** Of all segments; beyond it the oldest goes. */
  readonly totalBytes: number
  readonly nextSeq: () => number
}

export interface Appended {
  /** The first so many lines are in the file. */
  readonly kept: number
  /** What the system said to the rest; null where there is none. */
  readonly error: unknown
}

const lineBreak = 0x0a
/** Of one write, unless one line has more. */
const writeBytes = 4 * 2 ** 20
/** Tries of which nothing is kept before they count as refused. */
const fruitlessLimit = 3
/** How often the full segments are counted: another process may rotate. */
const recountMs = 1000

/**
 * The writing end of the raw log. Several processes may append to one file: each write holds whole lines and goes
 * to the end of the file, wherever that is by then. Before each, the file is looked at: another may have rotated,
 * cleared or deleted it, or left a torn line when it was killed.
 */
export class PayloadFile {
  readonly #options: PayloadFileOptions
  readonly #rotation: SegmentRotation
  #active: ActiveSegment | null = null
  #isTidy = false
  #fullBytes = 0
  #countedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PayloadFileOptions) {
    this.#options = options
    const { filePath, totalBytes: limit, nextSeq } = options
    this.#rotation = new SegmentRotation(filePath, limit, nextSeq)
  }

  /** Never throws. After an error everything is opened anew by the next. */
  append(lines: readonly NewLine[]): Appended {
    let kept = 0
    let fruitless = 0
    try {
      this.#ready()
      while (kept < lines.length) {
        const more = this.#ready().append(oneWrite(lines, kept))
        kept += more
        fruitless = more === 0 ? fruitless + 1 : 0
        if (fruitless === fruitlessLimit) throw new Error('writes are cut short')
      }
      return { kept, error: null }
    } catch (error) {
      this.close()
      return { kept, error }
    }
  }

  /** Makes the folder and the file where they are missing. Answers what the system said to it; null where it is well. */
  prepare(): unknown {
    return this.append([]).error
  }

  /** Of all segments. Throws the system's errors. */
  bytes(nowMs: number): number {
    const { filePath } = this.#options
    if (nowMs - this.#countedAtMs > recountMs) {
      this.#fullBytes = totalBytes(listSegments(filePath).filter(({ path }) => path !== filePath))
      this.#countedAtMs = nowMs
    }
    return this.#fullBytes + (statSync(filePath, { throwIfNoEntry: false })?.size ?? 0)
  }

  /** The full segments are counted anew. */
  forgetSizes(): void {
    this.#countedAtMs = Number.NEGATIVE_INFINITY
  }

  /** The number of the record at the end; null where there is none. Throws the system's errors. */
  lastSeq(): number | null {
    const newest = listSegments(this.#options.filePath).findLast(({ bytes }) => bytes > 0)
    using segment = newest === undefined ? null : OpenSegment.open(newest.path)
    if (segment === null) return null
    const tail = segment.read(Math.max(0, segment.size - writeBytes), segment.size)
    const end = tail.lastIndexOf(lineBreak)
    return end <= 0 ? null : seqOf(tail, tail.lastIndexOf(lineBreak, end - 1) + 1)
  }

  /** The next `append` opens it again. */
  close(): void {
    this.#active?.close()
    this.#active = null
  }

  #ready(): ActiveSegment {
    if (!this.#isTidy) this.#rotation.tidy()
    this.#isTidy = true
    if (this.#active?.isCurrent() === false) this.close()
    this.#active ??= new ActiveSegment(this.#options.filePath)
    if (this.#active.size < this.#options.segmentBytes) return this.#active
    this.close()
    this.#rotation.rotate()
    this.#rotation.dropOldest()
    this.forgetSizes()
    return (this.#active = new ActiveSegment(this.#options.filePath))
  }
}

function oneWrite(lines: readonly NewLine[], from: number): readonly NewLine[] {
  let bytes = 0
  let end = from
  for (; end < lines.length; end++) {
    bytes += lines[end]?.bytes.length ?? 0
    if (bytes > writeBytes && end > from) break
  }
  return lines.slice(from, end)
}
