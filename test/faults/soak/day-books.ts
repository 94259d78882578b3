import { DatabaseSync } from 'node:sqlite'
import { finalPrices } from './day-chores.ts'
import { type MadeCall, traceOf } from './day-clients.ts'
import { type CallKind, callKinds, isLeaving, modelOf } from './day.ts'
import type { DayUpstream } from './day-upstream.ts'

/** What of a call's row is compared. */
export interface BookedRow {
  readonly id: string
  readonly trace: string | null
  readonly session: string | null
  readonly outcome: string
  readonly status: number | null
  readonly input: number | null
  readonly output: number | null
  readonly usd: number | null
}

export interface Balance {
  readonly rows: number
  readonly interrupted: number
  /** Calls that had ended, by their clients, up to so long before the kill, and are told as interrupted. */
  readonly lostMs: number
  readonly tokens: { readonly rows: number; readonly books: number }
  readonly usd: { readonly rows: number; readonly books: number }
  readonly byKind: ReadonlyMap<CallKind, { readonly calls: number; readonly outcomes: string }>
  /** What does not balance. */
  readonly faults: readonly string[]
}

const outcomes: Readonly<Partial<Record<CallKind, string>>> = {
  'leaves in upload': 'client_disconnected',
  'leaves waiting': 'client_disconnected',
  'leaves reading': 'client_disconnected',
  'answered 429': 'upstream_error',
  'answered 500': 'upstream_error',
  hung: 'upstream_error',
  cut: 'upstream_cut',
}
const statuses: Readonly<Partial<Record<CallKind, number>>> = {
  'answered 429': 429,
  'answered 500': 500,
  hung: 504,
}
/** What ended so shortly before a kill may be told as interrupted: longer than a busy machine needs for a batch. */
const lossLimitMs = 5000
/** A kill leaves a row of each call that began so long before, also where the machine is busy. */
const tracedAfterMs = 500
const nano = 1e9

function wantedOutcome(kind: CallKind): string {
  return outcomes[kind] ?? 'ok'
}

/** Rows since an instant, which is ISO 8601. */
export function readRows(databaseFile: string, since: string): readonly BookedRow[] {
  const database = new DatabaseSync(databaseFile, { readOnly: true })
  try {
    return database
      .prepare(
        `SELECT id, trace_id AS trace, session, outcome, status, input_tokens AS input, output_tokens AS output, cost_usd AS usd
           FROM calls_readable WHERE started_at >= ? ORDER BY id`,
      )
      .all(since) as unknown as readonly BookedRow[]
  } finally {
    database.close()
  }
}

/** Compares what the clients saw, what the upstream served and what was recorded. */
export function balance(
  rows: readonly BookedRow[],
  calls: readonly MadeCall[],
  upstream: Pick<DayUpstream, 'reached' | 'served'>,
  killedAtMs: readonly number[],
): Balance {
  const faults: string[] = []
  const byTrace = new Map<string, BookedRow>()
  const byId = new Map<string, BookedRow>()
  for (const row of rows) {
    if (byId.has(row.id) || (row.trace !== null && byTrace.has(row.trace)))
      faults.push(`call ${row.id} has two rows`)
    byId.set(row.id, row)
    if (row.trace !== null) byTrace.set(row.trace, row)
  }
  const left = new Set(rows)
  const sums = { tokens: 0, nanoUsd: 0 }
  /** Calls of a killed gateway without a row that names them, and older ones of them that the upstream had. */
  const cutOff = { all: 0, reached: 0 }
  const rowOf = (call: MadeCall): BookedRow | undefined =>
    byTrace.get(traceOf(call.plan.n)) ?? (call.id === null ? undefined : byId.get(call.id))
  const told = new Map<CallKind, Map<string, number>>()
  let lostMs = 0
  for (const call of calls) {
    const { plan } = call
    const row = rowOf(call)
    const reached = upstream.reached.get(plan.n) ?? 0
    if (row !== undefined) left.delete(row)
    if (reached > 1) faults.push(`${nameOf(call)} was sent ${reached} times`)
    // Whatever became of the gateway: what is cut never looks finished.
    if (call.end === 'other bytes') faults.push(`${nameOf(call)} looks finished, with other bytes`)
    count(told, plan.kind, row?.outcome ?? 'no row names it')
    if (row?.outcome === 'ok') {
      sums.tokens += plan.input + plan.output
      const price = finalPrices[modelOf(plan)] ?? { input: 0, output: 0 }
      sums.nanoUsd += plan.input * price.input + plan.output * price.output
    }
    const killMs = killedAtMs.find((atMs) => call.begunMs <= atMs && call.endedMs >= atMs - lossLimitMs)
    if (killMs !== undefined && (row === undefined || row.outcome === 'interrupted')) {
      const endedBeforeMs = killMs - call.endedMs
      if (call.end === 'whole' && endedBeforeMs > 0) lostMs = Math.max(lostMs, endedBeforeMs)
      if (row !== undefined) continue
      cutOff.all += 1
      if (reached > 0 && call.begunMs < killMs - tracedAfterMs) cutOff.reached += 1
      continue
    }
    const fault = killMs === undefined || row?.outcome === 'ok' ? faultOf(call, row, upstream) : null
    if (fault !== null) faults.push(`${nameOf(call)}: ${fault}`)
  }
  // An open call is kept without its trace id: such rows are counted.
  const nameless = [...left].filter((row) => row.outcome === 'interrupted' && row.trace === null)
  for (const row of left) if (!nameless.includes(row)) faults.push(`row ${row.id}: nobody made this call`)
  if (nameless.length < cutOff.reached || nameless.length > cutOff.all)
    faults.push(
      `${nameless.length} interrupted rows of ${cutOff.reached} older calls at the upstream, ${cutOff.all} in all`,
    )
  const tokens = rows.reduce((sum, { input, output }) => sum + (input ?? 0) + (output ?? 0), 0)
  const nanoUsd = rows.reduce((sum, { usd }) => sum + Math.round((usd ?? 0) * nano), 0)
  if (tokens !== sums.tokens) faults.push(`${tokens} tokens in rows, ${sums.tokens} in the books`)
  if (nanoUsd !== sums.nanoUsd) faults.push(`${nanoUsd} nano-dollars in rows, ${sums.nanoUsd} in the books`)
  return {
    rows: rows.length,
    interrupted: rows.filter(({ outcome }) => outcome === 'interrupted').length,
    lostMs,
    tokens: { rows: tokens, books: sums.tokens },
    usd: { rows: nanoUsd / nano, books: sums.nanoUsd / nano },
    byKind: new Map(
      callKinds.flatMap((kind) => {
        const ends = told.get(kind)
        if (ends === undefined) return []
        const words = [...ends].map(([end, times]) => `${times} ${end}`).join(', ')
        return [[kind, { calls: [...ends.values()].reduce((a, b) => a + b, 0), outcomes: words }] as const]
      }),
    ),
    faults,
  }
}

/** What is wrong with the row of a call whose gateway lived on; `null` where nothing is. */
function faultOf(
  { plan, end, status, id, why }: MadeCall,
  row: BookedRow | undefined,
  { reached, served }: Pick<DayUpstream, 'reached' | 'served'>,
): string | null {
  const wantedEnd = isLeaving(plan) ? 'left' : plan.kind === 'cut' ? 'broken' : 'whole'
  if (end !== wantedEnd) return `its client saw it ${end}, with ${status}, not ${wantedEnd} ${why}`
  if (row === undefined) return 'it has no row'
  if (id !== null && id !== row.id) return `its client was told another id, ${id} and not ${row.id}`
  const outcome = wantedOutcome(plan.kind)
  if (row.outcome !== outcome) return `its row says ${row.outcome} and not ${outcome}`
  if (!isLeaving(plan)) {
    const wanted = statuses[plan.kind] ?? 200
    if (status !== wanted || row.status !== wanted)
      return `status ${status} at the client and ${row.status} in its row, not ${wanted}`
  }
  const isOk = outcome === 'ok'
  if (isOk && !(reached.has(plan.n) && served.has(plan.n))) return 'the upstream did not serve it to its end'
  const [input, output] = isOk ? [plan.input, plan.output] : [0, 0]
  if ((row.input ?? 0) !== input || (row.output ?? 0) !== output)
    return `${row.input} and ${row.output} tokens, not ${input} and ${output}`
  return null
}

function count(told: Map<CallKind, Map<string, number>>, kind: CallKind, outcome: string): void {
  const ends = told.get(kind) ?? new Map<string, number>()
  told.set(kind, ends.set(outcome, (ends.get(outcome) ?? 0) + 1))
}

function nameOf({ plan, id }: MadeCall): string {
  return `${plan.kind} ${plan.n} (${id ?? 'no id'})`
}
