import { startedAtMs } from '../../call/call-id.ts'
import type { SeenClients } from '../../call/call-reader.ts'
import type { IsOver } from '../../call/no-answer.ts'
import type { CallDictionary } from './call-dictionary.ts'
import { type CountingBounds, readNewestFirst } from './id-slices.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

const seenSql = `SELECT client_id, key_fingerprint, count(*),
  total(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)), max(id)
  FROM calls NOT INDEXED WHERE id >= ? AND id < ? GROUP BY 1, 2`

/** Most clients and keys of an answer, those with the most calls. */
const mostSeen = 1000

type Row = readonly [client: number | null, key: number | null, calls: number, tokens: number, lastId: number]

/** See `CallReader.seenClients`. Throws `QueryTooSlowError`. */
export function seenClients(
  statements: RowStatements,
  words: CallDictionary,
  isOver: IsOver,
  bounds: CountingBounds,
): SeenClients {
  const byName = new Map<string, Row>()
  const fromMs = readNewestFirst(bounds, isOver, (...ids) => {
    for (const [client, key, calls, tokens, lastId] of statements.all<Row>(seenSql, ...ids)) {
      const name = `${client} ${key}`
      const [, , laterCalls = 0, laterTokens = 0, last = lastId] = byName.get(name) ?? []
      byName.set(name, [client, key, calls + laterCalls, tokens + laterTokens, last])
    }
  })
  // Unknown clients can send any number of names.
  const most = [...byName.values()].sort((a, b) => b[2] - a[2]).slice(0, mostSeen)
  const clients = most.map(([client, key, calls, tokens, lastId]) => ({
    client: words.wordOf('clients', client),
    key_fingerprint: key === null ? null : (key >>> 0).toString(16).padStart(8, '0'),
    calls,
    tokens,
    last_at: new Date(startedAtMs(lastId)).toISOString(),
  }))
  return { fromMs, clients }
}
