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

/** A call with its id in the database. */
interface PlacedCall extends KeyedCall {
  readonly keepsId: boolean
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

type ImportContext = JobContext & { readonly pricer: CallPricer | null }

/**
 * Adds calls to a database, in short transactions, with pauses between them while its gateway runs. A call
 * that is already there is not added again, so an import may be killed at any time and started again. If the
 * file cannot be read further, the import ends, and the result says why; calls that were added stay.
 */
export async function importCalls(
  path: string,
  request: ImportRequest,
  context: ImportContext,
): Promise<ImportResult | StoreAbsence | 'job_running'> {
  const work = (database: DatabaseSync): Promise<ImportResult> => importInto(path, database, request, context)
  if (!request.dryRun) return await runJob(path, work, { mayMake: true })
  const result = await readStore(path, work)
  if (result !== 'missing' && result !== 'empty') return result
  using none = openEmpty()
  return await work(none)
}

async function importInto(
  path: string,
  database: DatabaseSync,
  { calls, dryRun, file, progress, source }: ImportRequest,
  { clock, onProgress, pricer }: ImportContext,
): Promise<ImportResult> {
  const folder = dirname(path)
  /** True if calls have ids, which one of our gateways gave them. */
  const hasIds = source === 'tokenweir'
  const statements = new RowStatements(database)
  const words = new Dictionary()
  const encoder = new BatchEncoder()
  const writer = new CallWriter(database, words, pricer, null, noteEntries)
  const entries = new ImportedEntries(database)
  const ids = new ImportIds(statements)
  const problems: Findings = new Map()
  const notes: Findings = new Map()
  /** True while a gateway records in the database. A gateway may start and stop at any time. */
  let isBeside = anyInstanceRuns(folder)
  /** The current calls by their new ids. */
  const placed = new Map<number, PlacedCall>()
  /** Number of lines or rows that were read. A row may have several calls. */
  let records = 0
  let lastLine = -1
  let [added, present, skipped] = [0, 0, 0]
  const startMs = clock.now()
  const unfoldedFromMs = foldedUntil(statements)
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
      const { call, identity, problem, line, notes: flaws } = next.value
      if (line !== lastLine) records++
      lastLine = line
      if (call === null) skip(line, problem)
      else batch.push({ line, call, key: identity })
      for (const flaw of flaws) find(notes, line, flaw)
    }
    if (batch.length < size && next.done !== true) continue
    isBeside = anyInstanceRuns(folder)
    const fromMs = clock.now()
    write(timely(hasIds ? batch : entries.keyed(batch)))
    batch = []
    onProgress(progress())
    if (next.done === true) break
    const bounds = isBeside ? slices.beside : slices.alone
    size = sliceSize(size, clock.now() - fromMs, bounds)
    await clock.delay(dryRun ? 0 : bounds.pauseMs)
  }
  if (!dryRun) {
    if (stopped === null) note()
    const summing = new Summing(database)
    // Without a gateway nobody updates the sums, and each question would count all these calls.
    if (!isBeside) while (summing.step(clock.wallTime(), slices.alone.most)) await clock.delay(0)
  }
  return {
    source,
    added,
    present,
    skipped,
    problems: inOrder(problems),
    notes: inOrder(notes),
    stopped,
    duration_ms: Math.round(clock.now() - startMs),
  }

  /** The calls whose times are acceptable. The others are counted with the reason. */
  function timely(keyed: readonly KeyedCall[]): readonly KeyedCall[] {
    return keyed.filter(({ line, call, key }) => {
      const flaw = timeProblem(startedAtMs(call.id), unfoldedFromMs, lastMs)
      if (flaw === null) return true
      if (entries.has(key)) present++
      else skip(line, flaw)
      return false
    })
  }

  function write(keyed: readonly KeyedCall[]): void {
    if (keyed.length === 0) return
    if (dryRun) return void assignIds(keyed)
    // A single transaction, so that no other process takes an id before its call is written.
    const dropped = inTransaction(database, () => {
      const encoded = encoder.encode(assignIds(keyed).map(({ call }) => call))
      words.accept(encoded)
      return writer.write(encoded).dropped
    })
    added -= dropped
    for (let index = 0; index < dropped; index++)
      skip(keyed[0]?.line ?? 0, 'from here on: the database refuses these values')
  }

  /** Notes the entries of the calls that got these numbers, in the same transaction. */
  function noteEntries(firstSeq: number, lastSeq: number): void {
    const sql = 'SELECT id FROM calls WHERE seq BETWEEN ? AND ?'
    for (const [id] of statements.all(sql, firstSeq, lastSeq)) {
      const written = placed.get(id ?? 0)
      // A call that keeps its id needs no entry.
      if (written !== undefined && !(hasIds && written.keepsId)) entries.add(written.key)
    }
  }

  /** The calls to add, with their ids. The others are counted. */
  function assignIds(keyed: readonly KeyedCall[]): readonly PlacedCall[] {
    placed.clear()
    const times = keyed.map(({ call }) => startedAtMs(call.id))
    ids.begin(Math.min(...times), Math.max(...times) + 1)
    for (const { line, call, key } of keyed) {
      const id = idFor(call, key)
      if (id === 'none') skip(line, noId(startedAtMs(call.id)))
      else if (id === 'present') present++
      else {
        ids.take(id)
        placed.set(id, { line, key, call: { ...call, id }, keepsId: id === call.id })
        added++
      }
    }
    // Oldest first, because in the other order SQLite leaves each page half empty.
    return [...placed.values()].sort((a, b) => a.call.id - b.call.id)
  }

  function idFor(call: StoredCall, key: bigint): number | 'present' | 'none' {
    if (entries.has(key)) return 'present'
    if (hasIds) {
      const idState = ownerOf(call)
      if (idState === 'same') return 'present'
      if (idState === 'interrupted' || (idState === 'free' && mayTake(call.id))) return call.id
    }
    const ms = startedAtMs(call.id)
    return ids.free(ms, Number(key % 4096n), !mayTake(call.id)) ?? 'none'
  }

  /** The owner of the id in the file: none, this call, its row `interrupted`, or another call. */
  function ownerOf(call: StoredCall): 'free' | 'same' | 'interrupted' | 'other' {
    const taken = placed.get(call.id)
    if (taken !== undefined) return identityOf(taken.call) === identityOf(call) ? 'same' : 'other'
    if (ids.isFree(call.id)) return 'free'
    const row = statements.first<readonly (string | number | null)[]>(
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
  function mayTake(id: number): boolean {
    return !isBeside || startedAtMs(id) < clock.wallTime() - longCallMs
  }

  function skip(line: number, problem: string): void {
    skipped++
    find(problems, line, problem)
  }

  function note(): void {
    inTransaction(database, () => {
      statements.run(
        `INSERT INTO imports (at_ms, source_id, file, records, added, present, skipped)
          VALUES (?, ?, ?, ?, ?, ?, ?)`,
        Math.round(clock.wallTime()),
        statements.wordId('labels', source),
        file,
        records,
        added,
        present,
        skipped,
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
