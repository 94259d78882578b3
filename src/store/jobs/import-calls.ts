import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { ImportProblem, ImportResult } from '../../api/database-job.ts'
import { startedAtMs } from '../../call/call-id.ts'
import { outcomeCodes } from '../../call/fields/call-fields.ts'
import type { ReadCall, StoredCall } from '../../call/call-record.ts'
import { messageOf } from '../../lib/errors.ts'
import { sliceSize } from '../../lib/slice-size.ts'
import { Summing } from '../rollup/summing.ts'
import { foldedUntil } from '../rollup/unsummed.ts'
import { anyInstanceRuns } from '../sqlite/instance-number.ts'
import { openEmpty, type StoreAbsence } from '../sqlite/open-store.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { inTransaction } from '../sqlite/transaction.ts'
import type { CallPricer } from '../../pricing/price-book.ts'
import { CallWriter } from '../write/call-writer.ts'
import { BatchEncoder, Dictionary } from '../write/record-batch.ts'
import { ImportIds } from './import-ids.ts'
import { ImportedEntries } from './imported-entries.ts'
import { type JobContext, readStore, runJob } from './job.ts'

/** A call that was read; `key` is unique in its source. */
interface KeyedCall {
  readonly line: number
  readonly call: StoredCall
  readonly key: bigint
}

/** A call with its new id. */
interface PlacedCall extends KeyedCall {
  readonly id: number
}

/** The calls to import, and the database. */
export interface ImportRequest {
  readonly source: string
  readonly file: string
  readonly calls: AsyncIterable<ReadCall>
  /** Only returns what would be done. */
  readonly dryRun: boolean
  /** Returns how much of the source was read. */
  readonly progress: () => { readonly done: number; readonly total: number }
}

/**
 * Calls that a slice writes or adds up, and its time in ms. A gateway's rows wait for a slice, and are
 * written in the pause after it: SQLite retries a lock after 1, 3, 8, 18, 33, 53 ms.
 */
const slices = {
  alone: { least: 20, most: 5000, ms: 250, pauseMs: 0 },
  beside: { least: 20, most: 5000, ms: 75, pauseMs: 30 },
} as const
/** Calls in the first slice. */
const firstSize = 100
/** Calls that began earlier have a wrong time. */
const earliestMs = Date.UTC(2015, 0)
const dayMs = 24 * 3_600_000
/** A gateway has most likely recorded a call within this time after its start. */
const longCallMs = 3_600_000
const mostProblems = 20
const mostLines = 3

/**
 * Adds calls to a database, in short transactions, with pauses between them while its gateway runs. A call
 * that is already there is not added again, so an import may be killed at any time and started again. If the
 * file cannot be read further, the import ends, and the result says why; calls that were added stay.
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
  readonly #request: ImportRequest
  readonly #context: JobContext & { readonly pricer: CallPricer | null }
  /** True if calls have ids, which one of our gateways gave them. */
  readonly #hasIds: boolean
  readonly #statements: RowStatements
  readonly #words = new Dictionary()
  readonly #encoder = new BatchEncoder()
  readonly #writer: CallWriter
  readonly #entries: ImportedEntries
  readonly #ids: ImportIds
  readonly #problems: Findings = new Map()
  readonly #notes: Findings = new Map()
  readonly #folder: string
  /** True while a gateway records in the database. A gateway may start and stop at any time. */
  #isBeside: boolean
  /** The current calls by their new ids. */
  readonly #placed = new Map<number, PlacedCall>()
  /** Number of lines or rows that were read. A row may have several calls. */
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
    this.#request = request
    this.#hasIds = request.source === 'tokenweir'
    this.#context = context
    this.#statements = new RowStatements(database)
    this.#entries = new ImportedEntries(database)
    this.#ids = new ImportIds(this.#statements)
    this.#writer = new CallWriter(database, this.#words, context.pricer, null, (firstSeq, lastSeq) =>
      this.#noteEntries(firstSeq, lastSeq),
    )
  }

  async run(): Promise<ImportResult> {
    const { clock, onProgress } = this.#context
    const { calls, dryRun, progress, source } = this.#request
    const startMs = clock.now()
    const unfoldedFromMs = foldedUntil(this.#statements)
    const lastMs = clock.wallTime() + dayMs
    const iterator = calls[Symbol.asyncIterator]()
    let stopped: string | null = null
    let batch: KeyedCall[] = []
    for (let size: number = firstSize; ;) {
      const next = await iterator.next().catch((error: unknown) => {
        stopped = messageOf(error)
        return { done: true as const, value: undefined }
      })
      if (next.done !== true) {
        const { call, identity, problem, line, notes } = next.value
        if (line !== this.#lastLine) this.#records++
        this.#lastLine = line
        if (call === null) this.#skip(line, problem)
        else batch.push({ line, call, key: identity })
        for (const note of notes) find(this.#notes, line, note)
      }
      if (batch.length < size && next.done !== true) continue
      this.#isBeside = anyInstanceRuns(this.#folder)
      const fromMs = clock.now()
      this.#write(this.#timely(this.#hasIds ? batch : this.#entries.keyed(batch), unfoldedFromMs, lastMs))
      batch = []
      onProgress(progress())
      if (next.done === true) break
      size = sliceSize(size, clock.now() - fromMs, this.#bounds)
      await clock.delay(dryRun ? 0 : this.#bounds.pauseMs)
    }
    if (!dryRun) {
      if (stopped === null) this.#note()
      // Without a gateway nobody updates the sums, and each question would count all these calls.
      if (!this.#isBeside) await this.#sumUp()
    }
    return {
      source,
      added: this.#added,
      present: this.#present,
      skipped: this.#skipped,
      problems: inOrder(this.#problems),
      notes: inOrder(this.#notes),
      stopped,
      duration_ms: Math.round(clock.now() - startMs),
    }
  }

  get #bounds(): (typeof slices)['alone' | 'beside'] {
    return this.#isBeside ? slices.beside : slices.alone
  }

  async #sumUp(): Promise<void> {
    const { clock } = this.#context
    const summing = new Summing(this.#statements.database)
    while (summing.step(clock.wallTime(), slices.alone.most)) await clock.delay(slices.alone.pauseMs)
  }

  /** The calls whose times are acceptable. The others are counted with the reason. */
  #timely(batch: readonly KeyedCall[], unfoldedFromMs: number, lastMs: number): readonly KeyedCall[] {
    return batch.filter(({ line, call, key }) => {
      const flaw = timeProblem(startedAtMs(call.id), unfoldedFromMs, lastMs)
      if (flaw === null) return true
      if (this.#entries.has(key)) this.#present++
      else this.#skip(line, flaw)
      return false
    })
  }

  #write(batch: readonly KeyedCall[]): void {
    if (batch.length === 0) return
    if (this.#request.dryRun) return void this.#assignIds(batch)
    // A single transaction, so that no other process takes an id before its call is written.
    const dropped = inTransaction(this.#statements.database, () => this.#insert(this.#assignIds(batch)))
    this.#added -= dropped
    for (let index = 0; index < dropped; index++)
      this.#skip(batch[0]?.line ?? 0, 'from here on: the database refuses these values')
  }

  #insert(placed: readonly PlacedCall[]): number {
    if (placed.length === 0) return 0
    const encoded = this.#encoder.encode(
      placed.map(({ id, call }) => (id === call.id ? call : { ...call, id })),
    )
    this.#words.accept(encoded)
    return this.#writer.write(encoded).dropped
  }

  /** Notes the entries of the calls that got these numbers, in the same transaction. */
  #noteEntries(firstSeq: number, lastSeq: number): void {
    const sql = 'SELECT id FROM calls WHERE seq BETWEEN ? AND ?'
    for (const [id] of this.#statements.all(sql, firstSeq, lastSeq)) {
      const placed = this.#placed.get(id ?? 0)
      // A call that keeps its id needs no entry.
      if (placed !== undefined && !(this.#hasIds && id === placed.call.id)) this.#entries.add(placed.key)
    }
  }

  /** The calls to add, with their ids. The others are counted. */
  #assignIds(batch: readonly KeyedCall[]): readonly PlacedCall[] {
    this.#placed.clear()
    const times = batch.map(({ call }) => startedAtMs(call.id))
    this.#ids.begin(Math.min(...times), Math.max(...times) + 1)
    for (const keyed of batch) {
      const id = this.#idFor(keyed.call, keyed.key)
      if (id === 'none') this.#skip(keyed.line, noId(startedAtMs(keyed.call.id)))
      else if (id === 'present') this.#present++
      else {
        this.#ids.take(id)
        this.#placed.set(id, { ...keyed, id })
        this.#added++
      }
    }
    // Oldest first, because in the other order SQLite leaves each page half empty.
    return [...this.#placed.values()].sort((a, b) => a.id - b.id)
  }

  #idFor(call: StoredCall, key: bigint): number | 'present' | 'none' {
    if (this.#entries.has(key)) return 'present'
    if (this.#hasIds) {
      const idState = this.#at(call)
      if (idState === 'same') return 'present'
      if (idState === 'interrupted' || (idState === 'free' && this.#mayTake(call.id))) return call.id
    }
    const ms = startedAtMs(call.id)
    return this.#ids.free(ms, Number(key % 4096n), !this.#mayTake(call.id)) ?? 'none'
  }

  /** The owner of the id in the file: none, this call, its row `interrupted`, or another call. */
  #at(call: StoredCall): 'free' | 'same' | 'interrupted' | 'other' {
    const placed = this.#placed.get(call.id)
    if (placed !== undefined) return identityOf(placed.call) === identityOf(call) ? 'same' : 'other'
    if (this.#ids.isFree(call.id)) return 'free'
    const row = this.#statements.first<readonly (string | number | null)[]>(
      `SELECT (SELECT text FROM instances WHERE id = instance_id), outcome_id, duration_us, upstream_request_id,
        status, input_tokens, output_tokens FROM calls WHERE id = ?`,
      call.id,
    )
    if (row === undefined) return 'free'
    if (JSON.stringify(row) === identityOf(call)) return 'same'
    if (row[0] !== call.instance) return 'other'
    if (call.outcome === 'interrupted') return 'same'
    return row[1] === outcomeCodes.interrupted ? 'interrupted' : 'other'
  }

  /** False for an id that a running gateway may have given to a call that it has not recorded yet. */
  #mayTake(id: number): boolean {
    return !this.#isBeside || startedAtMs(id) < this.#context.clock.wallTime() - longCallMs
  }

  #skip(line: number, problem: string): void {
    this.#skipped++
    find(this.#problems, line, problem)
  }

  #note(): void {
    const { source, file } = this.#request
    inTransaction(this.#statements.database, () => {
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

/** The values that distinguish two calls with the same id: the name of the instance, then the row's columns. */
function identityOf(call: StoredCall): string {
  const { instance, outcome, durationMs, upstreamRequestId, status, inputTokens, outputTokens } = call
  const durationUs = durationMs === null ? null : Math.round(durationMs * 1000)
  const figures = [durationUs, upstreamRequestId, status, inputTokens, outputTokens]
  return JSON.stringify([instance, outcomeCodes[outcome], ...figures])
}

function noId(ms: number): string {
  return `all ids of its instant ${new Date(ms).toISOString()} are taken; of each millisecond there are 4096, of the last hour 128 while a gateway runs`
}

/** Problems found in a file, each with its first lines. */
type Findings = Map<string, { count: number; problem: string; lines: number[] }>

function find(findings: Findings, line: number, problem: string): void {
  const kind = problem.replaceAll(/"(?:[^"\\]|\\.)*"|[\d.e+-]+/g, '#')
  const finding = findings.get(kind)
  if (finding !== undefined) {
    finding.count++
    if (finding.lines.length < mostLines) finding.lines.push(line)
  } else if (findings.size < mostProblems) findings.set(kind, { count: 1, problem, lines: [line] })
}

function inOrder(findings: Findings): readonly ImportProblem[] {
  return [...findings.values()].toSorted((a, b) => b.count - a.count)
}

/** Why a call of this time cannot be added; null if it can. */
function timeProblem(startMs: number, unfoldedFromMs: number, lastMs: number): string | null {
  const shown = (): string => new Date(startMs).toISOString()
  if (startMs < earliestMs) return `it began before 2015: ${shown()}`
  if (startMs > lastMs) return `it began in the future: ${shown()}`
  if (startMs >= unfoldedFromMs) return null
  return `calls before ${new Date(unfoldedFromMs).toISOString()} are kept only as sums in this database, so duplicates among them cannot be found`
}
