import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CallReader } from '../src/call/call-reader.ts'
import { parseCallId } from '../src/call/call-id.ts'
import { openCallReader } from '../src/store/read/call-query.ts'
import type { BenchOptions } from './bench-options.ts'
import {
  type Asked,
  edgesOf,
  type FigureAsked,
  type ListAsked,
  type LookupAsked,
  nameOf,
  type SessionsAsked,
} from './questions/bench-question.ts'
import { plainSql } from './questions/plain-sql.ts'
import { questionList } from './questions/question-list.ts'
import { type BenchResult, median } from './summary.ts'

const plainSqlProgram = fileURLToPath(new URL('programs/plain-sql.ts', import.meta.url))
const plainSqlLimitMs = 20_000
const leastTimes = 7
/** Of one question in all; further askings beyond the least ones are left out. */
const enoughMs = 15_000
const leastTimesOfLong = 3

interface Measured {
  readonly question: string
  readonly goalMs: number
  readonly ms: readonly number[]
  /** CPU time of the whole process, which a neighbour's load does not change. */
  readonly cpuMs: readonly number[]
  readonly groups: number
  /** `null` where it was not asked, infinite where it took too long. */
  readonly sqlMs: number | null
  readonly sql: string | null
}

/** P7 and P8: how long the store's answers take, in one process with a warm cache, beside plain SQL over the calls. */
export async function benchQuestions(options: BenchOptions): Promise<BenchResult> {
  const path = options.db
  if (path === undefined) throw new Error('p7 needs --db: a database of bench/generate-calls.ts')
  const reader = openCallReader(path)
  if (typeof reader === 'string') throw new Error(`${path}: ${reader}`)
  const lastMs = (await reader.extent())?.lastMs
  if (lastMs === undefined) throw new Error(`${path} holds no call`)
  const endMs = lastMs + 1
  const measured: Measured[] = []
  for (const asked of questionList) {
    const question = nameOf(asked)
    if (options.only !== undefined && !question.includes(options.only)) continue
    const times = await timed(await questionOf(reader, asked, endMs))
    const sql = isSqlAsked(asked) ? plainSql(asked, endMs) : null
    const sqlMs = options.sql && sql !== null ? plainSqlMs(path, sql) : null
    measured.push({ question, goalMs: asked.goalMs, ...times, sqlMs, sql })
    console.log(formatLine(measured.at(-1)!).join('  '))
  }
  reader.close()
  const calls = await countOf(path)
  return {
    name: 'p7-p8-questions',
    title: `P7, P8: questions over ${calls.toLocaleString('en')} calls, warm, median and highest in ms`,
    table: [
      ['question', 'median', 'highest', 'CPU', 'goal', '', 'rows', 'plain SQL'],
      ...measured.map(formatLine),
    ],
    goals: measured.map(({ question, ms, goalMs }) => ({
      what: question,
      value: median(ms),
      atMost: goalMs,
      unit: 'ms',
    })),
    notes: [],
    data: { calls, endMs, measured },
  }
}

function isSqlAsked(asked: Asked): asked is FigureAsked | ListAsked {
  return asked.kind === 'list' || (asked.kind === 'figures' && asked.withSql)
}

type Ask = () => Promise<number>

/** A function that asks the question and returns the number of rows. */
async function questionOf(reader: CallReader, asked: Asked, endMs: number): Promise<Ask> {
  if (asked.kind === 'list') return listOf(reader, asked, endMs)
  if (asked.kind === 'lookup') return lookupOf(reader, asked)
  if (asked.kind === 'sessions') return sessionsOf(reader, asked)
  const edgesMs = edgesOf(asked, endMs)
  const { filter, dimension } = asked
  const isCut = asked.unit !== null && dimension !== null
  const question = { filter, edgesMs, dimension, ...(isCut && { top: 20 }) }
  return async () => (await reader.aggregate(question)).groups.length
}

async function lookupOf(reader: CallReader, { method }: LookupAsked): Promise<Ask> {
  const [last] = await reader.list({}, { limit: 1 })
  const newest = parseCallId(last!.id)!
  const lookups = {
    extent: async () => ((await reader.extent()) === null ? 0 : 1),
    choices: async () => (await reader.choices()).models.length,
    call: async () => ((await reader.call(newest)) === null ? 0 : 1),
    endedSince: async () => (await reader.endedSince((await reader.lastSeq()) - 100, {}, 100)).calls.length,
  }
  return lookups[method]
}

async function listOf(reader: CallReader, asked: ListAsked, endMs: number): Promise<Ask> {
  const { hours, limit, sort } = asked
  const range = hours === null ? {} : { fromMs: endMs - hours * 3_600_000, toMs: endMs }
  const filter = { ...asked.filter, ...range }
  const page = { limit, sort }
  const last = asked.isNext ? (await reader.list(filter, page)).at(-1) : undefined
  const beforeId = last === undefined ? null : parseCallId(last.id)
  return async () => (await reader.list(filter, { ...page, ...(beforeId !== null && { beforeId }) })).length
}

async function sessionsOf(reader: CallReader, { filter, isNext }: SessionsAsked): Promise<Ask> {
  const page = { limit: 100 }
  const beforeId = isNext ? (await reader.sessions(filter, page)).nextBeforeId : null
  const asked = { ...page, ...(beforeId !== null && { beforeId }) }
  return async () => (await reader.sessions(filter, asked)).sessions.length
}

async function timed(ask: Ask): Promise<Pick<Measured, 'ms' | 'cpuMs' | 'groups'>> {
  const startMs = performance.now()
  const groups = await ask()
  const isLong = performance.now() - startMs > enoughMs / leastTimes
  if (!isLong) await ask()
  const ms: number[] = []
  const cpuMs: number[] = []
  while (ms.length < (isLong ? leastTimesOfLong : leastTimes)) {
    const askedMs = performance.now()
    const before = process.cpuUsage()
    await ask()
    ms.push(performance.now() - askedMs)
    const spent = process.cpuUsage(before)
    cpuMs.push((spent.user + spent.system) / 1000)
  }
  return { ms, cpuMs, groups }
}

function plainSqlMs(path: string, sql: string): number {
  const args = [plainSqlProgram, path, sql]
  const { stdout, status, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: plainSqlLimitMs,
    killSignal: 'SIGKILL',
  })
  if (status === null) return Number.POSITIVE_INFINITY
  if (status !== 0) throw new Error(stderr)
  return Number(stdout)
}

async function countOf(path: string): Promise<number> {
  const reader = openCallReader(path)
  if (typeof reader === 'string') return 0
  const { firstMs = 0, lastMs = 0 } = (await reader.extent()) ?? {}
  const edgesMs = [firstMs, lastMs + 1]
  const { calls } = (await reader.aggregate({ filter: {}, edgesMs, dimension: null })).summary
  reader.close()
  return calls
}

function formatLine({ question, ms, cpuMs, goalMs, groups, sqlMs }: Measured): readonly string[] {
  const middle = median(ms)
  return [
    question,
    shown(middle),
    shown(Math.max(...ms)),
    shown(median(cpuMs)),
    String(goalMs),
    middle > goalMs ? 'MISSED' : '',
    String(groups),
    sqlMs === null ? '–' : Number.isFinite(sqlMs) ? shown(sqlMs) : `> ${plainSqlLimitMs}`,
  ]
}

function shown(ms: number): string {
  return ms.toFixed(ms < 10 ? 1 : 0)
}
