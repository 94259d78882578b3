import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ImportProblem, ImportResult } from '../../api/database-job.ts'
import { firstIdAt, importedIdAt, nextImportedId, startedAtMs } from '../../call/call-id.ts'
import { outcomeCodes } from '../../call/call-fields.ts'
import type { StoredCall } from '../../call/call-record.ts'
import { messageOf } from '../../lib/errors.ts'
import { foldedUntilMs } from '../rollup/fold-calls.ts'
import { RollForward } from '../rollup/roll-forward.ts'
import { anyInstanceRuns } from '../sqlite/instance-number.ts'
import { openEmpty, type StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import type { CallPricer } from '../write/call-pricer.ts'
import { CallWriter } from '../write/call-writer.ts'
import { BatchEncoder, WordList } from '../write/record-batch.ts'
import { type JobContext, nextSize, readStore, runJob } from './job.ts'

/** A call that was read, or why there is none. */
export interface ReadCall {
  /** Where it stood: a line of the file, or a row of a database. */
  readonly line: number
  readonly call: StoredCall | null
  readonly problem: string
}

export interface ImportRequest {
  readonly source: string
  readonly file: string
  /** Calls bring the ids that a gateway of ours gave them. */
  readonly hasIds: boolean
  readonly calls: AsyncIterable<ReadCall>
  /** Only says what would be done. */
  readonly dryRun: boolean
  /** How far reading has come. */
  readonly progress: () => { readonly done: number; readonly total: number }
}

/**
 * Calls that are written, or added up, in one go, and how long that may take. A gateway's row waits for a slice, and finds a gap
 * between two: SQLite tries a lock again after 1, 3, 8, 18, 33, 53 ms.
 */
const slices = {
  alone: { least: 20, most: 5000, ms: 250, pauseMs: 0 },
  beside: { least: 20, most: 5000, ms: 75, pauseMs: 30 },
} as const
const firstSize = 100
/** Before that no gateway forwarded calls: a clock was wrong, or a column. */
const earliestMs = Date.UTC(2015, 0)
const dayMs = 24 * 3_600_000
/** A gateway that gave out an id so long ago has most likely recorded its call. */
const longCallMs = 3_600_000
/** Ids that are looked at before a call is given up: there are so many of some instant. */
const mostTries = 1000
const problemsTold = 20
const linesTold = 3

/**
 * Adds calls to a database, in short transactions with pauses between them while its gateway runs. A call that
 * is there already is not added again, so it may be killed at any moment and then begun again. What cannot be read any
 * further ends it, and is told: what came before stays.
 */
export async function importCalls(
  path: string,
  request: ImportRequest,
  context: JobContext & { readonly pricer: CallPricer | null },
): Promise<ImportResult | StoreAbsence | 'job_running'> {
  const work = (database: DatabaseSync): Promise<ImportResult> =>
    new CallImport(path, database, request, context).run()
  if (!request.dryRun) return await runJob(path, work, { mayMake: true })
  const result = await readStore(path, work)
  if (result !== 'missing' && result !== 'empty') return result
  using none = openEmpty()
  return await work(none)
}

class CallImport {
  readonly #database: DatabaseSync
  readonly #request: ImportRequest
  readonly #context: JobContext & { readonly pricer: CallPricer | null }
  readonly #statements: RowStatements
  readonly #words = new WordList()
  readonly #encoder = new BatchEncoder()
  readonly #writer: CallWriter
  readonly #problems = new Map<string, { count: number; problem: string; lines: number[] }>()
  readonly #forward: RollForward
  readonly #folder: string
  /** A gateway records in the database meanwhile, and adds up calls; it may start and stop at any time. */
  #isBeside: boolean
  /** Calls to add up in one go. */
  #addSize: number = firstSize
  /** Ids from one to another that no row has. */
  #free: readonly [first: number, past: number] = [0, 0]
  /** Those that the calls in hand will have. */
  readonly #placed = new Map<number, StoredCall>()
  /** Lines or rows that were read: a row may stand for several calls. */
  #records = 0
  #lastLine = -1
  #added = 0
  #present = 0
  #skipped = 0

  constructor(
    path: string,
    database: DatabaseSync,
    request: ImportRequest,
    context: JobContext & { readonly pricer: CallPricer | null },
  ) {
    this.#folder = dirname(path)
    this.#isBeside = anyInstanceRuns(this.#folder)
    this.#database = database
    this.#forward = new RollForward(database)
    this.#request = request
    this.#context = context
    this.#statements = new RowStatements(database)
    this.#writer = new CallWriter(database, this.#words, context.pricer)
  }

  async run(): Promise<ImportResult> {
    const { clock, onProgress } = this.#context
    const { calls, dryRun, progress, source } = this.#request
    const startMs = clock.now()
    const unfoldedFromMs = foldedUntilMs(this.#database)
    const lastMs = clock.wallTime() + dayMs
    const found = calls[Symbol.asyncIterator]()
    let stopped: string | null = null
    let batch: ReadCall[] = []
    for (let size: number = firstSize; ;) {
      const next = await found.next().catch((error: unknown) => {
        stopped = messageOf(error)
        return { done: true as const, value: undefined }
      })
      if (next.done !== true) {
        const { call, problem, line } = next.value
        if (line !== this.#lastLine) this.#records++
        this.#lastLine = line
        const flaw = call === null ? problem : timeProblem(startedAtMs(call.id), unfoldedFromMs, lastMs)
        if (flaw === null) batch.push(next.value)
        else this.#skip(line, flaw)
      }
      if (batch.length < size && next.done !== true) continue
      this.#isBeside = anyInstanceRuns(this.#folder)
      const fromMs = clock.now()
      this.#write(batch)
      batch = []
      onProgress(progress())
      if (next.done === true) break
      size = nextSize(size, clock.now() - fromMs, this.#bounds)
      await clock.delay(dryRun ? 0 : this.#bounds.pauseMs)
      // As long as calls of any time may come, no hour is over: most files begin with the newest.
      if (!dryRun) await this.#addUp(0)
    }
    if (!dryRun) {
      if (stopped === null) this.#note()
      // A gateway does so by itself; without one, whoever asks would count all these calls each time.
      if (!this.#isBeside) await this.#addUp(clock.wallTime())
    }
    return {
      source,
      added: this.#added,
      present: this.#present,
      skipped: this.#skipped,
      problems: this.#told(),
      stopped,
      duration_ms: Math.round(clock.now() - startMs),
    }
  }

  get #bounds(): (typeof slices)['alone' | 'beside'] {
    return this.#isBeside ? slices.beside : slices.alone
  }

  /** Adds up what calls there are; makes sums of the hours that are over by then. */
  async #addUp(nowMs: number): Promise<void> {
    const { clock } = this.#context
    for (let hasMore = true; hasMore;) {
      const fromMs = clock.now()
      const { ms, most, pauseMs } = this.#bounds
      hasMore = this.#isBeside
        ? this.#forward.step(nowMs, this.#addSize)
        : this.#forward.step(nowMs, most, ms)
      this.#addSize = nextSize(this.#addSize, clock.now() - fromMs, slices.beside)
      await clock.delay(pauseMs)
    }
  }

  #write(batch: readonly ReadCall[]): void {
    if (this.#request.dryRun) {
      this.#place(batch)
      return
    }
    // Between looking and writing another may take an id: then those calls are placed again.
    const calls = this.#place(batch)
    let left = this.#insert(calls)
    if (left.conflicts > 0) {
      this.#added -= left.dropped
      this.#present -= calls.length - left.dropped
      left = this.#insert(this.#place(calls.map((call) => ({ line: 0, call, problem: '' }))))
    }
    this.#added -= left.dropped
    for (let index = 0; index < left.dropped; index++) {
      this.#skip(batch[0]?.line ?? 0, 'from here on: the database takes no such values')
    }
  }

  #insert(calls: readonly StoredCall[]): { readonly dropped: number; readonly conflicts: number } {
    if (calls.length === 0) return { dropped: 0, conflicts: 0 }
    const encoded = this.#encoder.encode(calls)
    this.#words.accept(encoded)
    return this.#writer.write(encoded, { rows: this.#bounds.most, ms: this.#bounds.ms })
  }

  /** The calls that are to be added, with their ids; the others are counted. */
  #place(batch: readonly ReadCall[]): readonly StoredCall[] {
    this.#placed.clear()
    this.#free = this.#freeAround(batch)
    const calls: StoredCall[] = []
    for (const { line, call } of batch) {
      if (call === null) continue
      const id = this.#idFor(call)
      if (id === 'none') this.#skip(line, 'more calls than there are ids began at this instant')
      else if (id === 'present') this.#present++
      else {
        this.#placed.set(id, call)
        calls.push(id === call.id ? call : { ...call, id })
        this.#added++
      }
    }
    // The oldest first: in the other order SQLite leaves each page of the table half empty.
    return calls.sort((one, other) => one.id - other.id)
  }

  #idFor(call: StoredCall): number | 'present' | 'none' {
    const own = this.#request.hasIds ? this.#at(call) : 'free'
    if (own === 'same') return 'present'
    if (own === 'interrupted') return call.id
    if (own === 'free' && this.#isFree(call.id) && this.#mayTake(call.id)) return call.id
    let id = this.#request.hasIds ? importedIdAt(startedAtMs(call.id), hashOf(call)) : call.id
    for (let tries = 0; tries < mostTries; tries++) {
      const found = this.#at(call, id)
      if (found === 'same') return 'present'
      if (found === 'free')
        return this.#request.hasIds && own === 'free' && this.#mayTake(call.id) ? call.id : id
      id = nextImportedId(id)
    }
    return 'none'
  }

  /** The ids of the milliseconds of these calls, if no row has one of them: then none needs to be looked for. */
  #freeAround(batch: readonly ReadCall[]): readonly [first: number, past: number] {
    let [fromMs, toMs] = [Number.POSITIVE_INFINITY, 0]
    for (const { call } of batch) {
      if (call === null) continue
      fromMs = Math.min(fromMs, startedAtMs(call.id))
      toMs = Math.max(toMs, startedAtMs(call.id))
    }
    if (toMs < fromMs) return [0, 0]
    const [first, past] = [firstIdAt(fromMs), firstIdAt(toMs + 1)]
    const taken = this.#statements.first('SELECT id FROM calls WHERE id >= ? AND id < ? LIMIT 1', first, past)
    return taken === undefined ? [first, past] : [0, 0]
  }

  #isFree(id: number): boolean {
    return id >= this.#free[0] && id < this.#free[1] && !this.#placed.has(id)
  }

  /** What has an id: nothing, this call, what stands for it since it seemed to be cut off, or another. */
  #at(call: StoredCall, id: number = call.id): 'free' | 'same' | 'interrupted' | 'other' {
    const placed = this.#placed.get(id)
    if (placed !== undefined) return identityOf(placed) === identityOf(call) ? 'same' : 'other'
    if (this.#isFree(id)) return 'free'
    const row = this.#statements.first<readonly (string | number | null)[]>(
      `SELECT (SELECT text FROM instances WHERE id = instance_id), outcome_id, duration_us, upstream_request_id,
        status, input_tokens, output_tokens FROM calls WHERE id = ?`,
      id,
    )
    if (row === undefined) return 'free'
    if (JSON.stringify(row) === identityOf(call)) return 'same'
    if (row[0] !== call.instance || id !== call.id) return 'other'
    if (call.outcome === 'interrupted') return 'same'
    return row[1] === outcomeCodes.interrupted ? 'interrupted' : 'other'
  }

  /** An id that a running gateway may have given to a call which it has not recorded yet must be left to it. */
  #mayTake(id: number): boolean {
    return !this.#isBeside || startedAtMs(id) < this.#context.clock.wallTime() - longCallMs
  }

  #skip(line: number, problem: string): void {
    this.#skipped++
    const kind = problem.replaceAll(/"(?:[^"\\]|\\.)*"|\d+/g, '#')
    const told = this.#problems.get(kind)
    if (told !== undefined) {
      told.count++
      if (told.lines.length < linesTold) told.lines.push(line)
    } else if (this.#problems.size < problemsTold)
      this.#problems.set(kind, { count: 1, problem, lines: [line] })
  }

  #told(): readonly ImportProblem[] {
    return [...this.#problems.values()].toSorted((a, b) => b.count - a.count)
  }

  #note(): void {
    const { source, file } = this.#request
    inTransaction(this.#database, () => {
      this.#statements.run(
        `INSERT INTO imports (at_ms, source_id, file, records, added, present, skipped)
          VALUES (?, ?, ?, ?, ?, ?, ?)`,
        Math.round(this.#context.clock.wallTime()),
        this.#statements.wordId('labels', source),
        file,
        this.#records,
        this.#added,
        this.#present,
        this.#skipped,
      )
    })
  }
}

/** What tells a call from another that has the id which it would have. As a row is read: the name of the instance, then the columns. */
function identityOf(call: StoredCall): string {
  const { instance, outcome, durationMs, upstreamRequestId, status, inputTokens, outputTokens } = call
  const durationUs = durationMs === null ? null : Math.round(durationMs * 1000)
  const figures = [durationUs, upstreamRequestId, status, inputTokens, outputTokens]
  return JSON.stringify([instance, outcomeCodes[outcome], ...figures])
}

function hashOf({ id, instance }: StoredCall): number {
  return createHash('sha256').update(`${instance}\n${id}`).digest().readUInt32BE(0)
}

/** Null if nothing is wrong with it. */
function timeProblem(startMs: number, unfoldedFromMs: number, lastMs: number): string | null {
  const shown = (): string => new Date(startMs).toISOString()
  if (startMs < earliestMs) return `it began before 2015: ${shown()}`
  if (startMs > lastMs) return `it began in the future: ${shown()}`
  if (startMs >= unfoldedFromMs) return null
  return `calls before ${new Date(unfoldedFromMs).toISOString()} are kept as sums alone in this database, where nobody can tell which are there already`
}
