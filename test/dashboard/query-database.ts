import { sumAll } from '../../bench/generate/add-past.ts'
import { systemClock } from '../../src/call/clock.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import type { GatewayEvent, GatewayMinute } from '../../src/call/call-sink.ts'
import { ThisMachine } from '../../src/lib/this-machine.ts'
import { QueryProcess, type QueryProcessOptions } from '../../src/query/query-process.ts'
import { spawnQuery } from '../../src/query/spawn-query.ts'
import { HistoryWriter } from '../../src/store/write/history-writer.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import type { RawResponse } from '../support/raw-response.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type DashboardUnderTest, startDashboard } from './dashboard-under-test.ts'
import { writeCalls } from '../store/write-calls.ts'

/** What counts as now: two hours after the sample calls begin. */
export const nowMs: number = Date.UTC(2026, 10, 21, 6)

export interface DatabaseContents {
  readonly calls: readonly CallRecord[]
  /** How many of them, in the order of writing, are in the sums; all but the last third unless told. */
  readonly summed?: number
  readonly minutes?: readonly GatewayMinute[]
  readonly events?: readonly GatewayEvent[]
}

/** Writes a database with the store's own writers, or adds to it. */
export function writeDatabase(path: string, contents: DatabaseContents): void {
  const { calls, minutes = [], events = [] } = contents
  const database = openForWriting(path)
  try {
    new HistoryWriter(database, { instance: 'k3v9', version: '0' }).write(minutes, events)
    const summed = contents.summed ?? Math.floor((calls.length * 2) / 3)
    writeCalls(database, calls.slice(0, summed))
    sumAll(database, nowMs)
    writeCalls(database, calls.slice(summed))
  } finally {
    database.close()
  }
}

/** A dashboard before a real query process and a real database in a folder of its own. */
export interface QueriedDashboard extends AsyncDisposable {
  readonly dashboard: DashboardUnderTest
  readonly queries: QueryProcess
  readonly path: string
  /** Faults of the query process. */
  readonly faults: unknown[]
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>
  /** The body of an answer that has to be 200. */
  getJson<T>(target: string): Promise<T>
}

/** `await using queried = await startQueried({ calls })`; without contents there is no database. */
export async function startQueried(
  contents: DatabaseContents | null,
  options: Partial<QueryProcessOptions> = {},
): Promise<QueriedDashboard> {
  const dir = await makeTempDir()
  const path = dir.file('calls.db')
  if (contents !== null) writeDatabase(path, contents)
  const faults: unknown[] = []
  const clock = { ...systemClock, wallTime: (): number => nowMs }
  const queries = new QueryProcess({
    clock,
    spawn: spawnQuery(path, {}),
    onFault: (error) => faults.push(error),
    // A busy machine is no slow question.
    deadlineMs: 60_000,
    ...options,
  })
  // Whose a connection is takes the system some milliseconds to tell, and other tests ask it.
  const thisMachine = new ThisMachine(true, null)
  const dashboard = await startDashboard({ queries, clock, thisMachine })
  const get: QueriedDashboard['get'] = (target, headers = {}) =>
    dashboard.ask('GET', target, { headers: Object.entries(headers) })
  return {
    dashboard,
    queries,
    path,
    faults,
    get,
    getJson: async <T>(target: string): Promise<T> => {
      const answer = await get(target)
      if (answer.status !== 200) throw new Error(`${target}: ${answer.status} ${answer.body.toString()}`)
      return JSON.parse(answer.body.toString()) as T
    },
    [Symbol.asyncDispose]: async () => {
      queries.close()
      await dashboard[Symbol.asyncDispose]()
      await dir[Symbol.asyncDispose]()
    },
  }
}
