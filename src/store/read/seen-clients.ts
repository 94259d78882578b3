import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { SeenClients } from '../../call/call-reader.ts'
import type { IsOver } from '../../call/no-answer.ts'
import type { CallDictionary } from './call-dictionary.ts'
import { idSlices } from './id-slices.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

const seenSql = `SELECT client_id, key_fingerprint, count(*),
  total(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)), max(id)
  FROM calls NOT INDEXED WHERE id >= ? AND id < ? GROUP BY 1, 2`

/** Clients and keys that are told, those with the most calls. */
const mostSeen = 1000

type Row = readonly [client: number | null, key: number | null, calls: number, tokens: number, lastId: number]

/** See `CallReader.seenClients`. Throws `QueryTooSlowError`. */
export function seenClients(
  statements: RowStatements,
  words: CallDictionary,
  isOver: IsOver,
  [fromMs, toMs, withinMs]: readonly [fromMs: number, toMs: number, withinMs: number],
): SeenClients {
  const seen = new Map<string, Row>()
  const untilMs = performance.now() + withinMs
  let countedMs = fromMs
  for (const ids of idSlices(firstIdAt(fromMs), firstIdAt(toMs), { newestFirst: true, isOver })) {
    for (const [client, key, calls, tokens, lastId] of statements.all<Row>(seenSql, ...ids)) {
      const name = `${client} ${key}`
      const [, , moreCalls = 0, moreTokens = 0, later = 0] = seen.get(name) ?? []
      seen.set(name, [client, key, calls + moreCalls, tokens + moreTokens, Math.max(lastId, later)])
    }
    countedMs = startedAtMs(ids[0])
    if (performance.now() >= untilMs) break
  }
  // Names are many where strangers make them up.
  const most = [...seen.values()].sort((one, other) => other[2] - one[2]).slice(0, mostSeen)
  const clients = most.map(([client, key, calls, tokens, lastId]) => ({
    client: words.wordOf('clients', client),
    key_fingerprint: key === null ? null : (key >>> 0).toString(16).padStart(8, '0'),
    calls,
    tokens,
    last_at: new Date(startedAtMs(lastId)).toISOString(),
  }))
  return { fromMs: Math.max(fromMs, countedMs), clients }
}
