import type { CallJson } from '../call/call-record.ts'

/** The calls of one session. */
interface SessionRow {
  readonly session: string
  first: string
  last: string
  calls: number
  errors: number
  input_tokens: number
  output_tokens: number
  /** Null if none of its calls has a price. */
  cost_usd: number | null
  readonly models: string[]
  readonly clients: string[]
}

/** Calls, newest first, by the session that they name, the latest first; and how many name none. */
export function sessionsOf(calls: readonly CallJson[]): {
  readonly rows: readonly SessionRow[]
  readonly without: number
} {
  const rows = new Map<string, SessionRow>()
  let without = 0
  for (const call of calls) {
    const { session, started_at: at, model, client } = call
    if (session === null) without += 1
    else {
      const sums = { calls: 0, errors: 0, input_tokens: 0, output_tokens: 0, cost_usd: null }
      const row = rows.get(session) ?? { session, first: at, last: at, ...sums, models: [], clients: [] }
      rows.set(session, row)
      row.first = at
      row.calls += 1
      row.errors += Number(call.failed)
      row.input_tokens += call.input_tokens ?? 0
      row.output_tokens += call.output_tokens ?? 0
      if (call.cost_usd !== null) row.cost_usd = (row.cost_usd ?? 0) + call.cost_usd
      if (model !== null && !row.models.includes(model)) row.models.push(model)
      if (client !== null && !row.clients.includes(client)) row.clients.push(client)
    }
  }
  return { rows: [...rows.values()], without }
}
