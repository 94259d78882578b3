import { isFingerprint } from '../../call/key-fingerprint.ts'
import { estimatedTokens, reportedTokens, type SpentCall, spentFields } from '../../call/budget-tokens.ts'
import { firstIdAt, startedAtMs } from '../../call/call-id.ts'
import type { ClientUsage, ClientUsageQuestion, RecentCall } from '../../call/call-sink.ts'
import { inTexts, recordReader, type StoredRow } from '../../call/fields/record-reader.ts'
import { getOrAdd } from '../../lib/get-or-add.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

const callColumns = spentFields.map(({ column, table }) =>
  table === undefined ? `c.${column}` : `(SELECT text FROM ${table} WHERE id = c.${column})`,
)
/** Gateways of this machine: only these have a version. */
export const ownInstances = 'SELECT id FROM instances WHERE version IS NOT NULL'
const whoseColumns = `(SELECT text FROM clients WHERE id = c.client_id),
  CASE WHEN c.key_fingerprint IS NOT NULL THEN printf('%08x', c.key_fingerprint & 4294967295) END,
  (SELECT text FROM upstreams WHERE id = c.upstream_name_id)`
/** Calls of these clients or keys, or at these upstreams, with the columns for their use. */
const spentSql = `SELECT c.id, c.duration_us, ${whoseColumns}, ${callColumns.join(', ')}
  FROM calls AS c NOT INDEXED WHERE c.id >= ?1 AND c.id < ?2 AND c.source_id IS NULL
  AND c.instance_id IN (${ownInstances}) AND (
    c.client_id IN (SELECT id FROM clients WHERE text IN (SELECT value FROM json_each(?3)))
    OR c.key_fingerprint IN (SELECT value FROM json_each(?4))
    OR c.upstream_name_id IN (SELECT id FROM upstreams WHERE text IN (SELECT value FROM json_each(?5))))`

const spentCall = recordReader<(row: StoredRow) => SpentCall>(spentFields, ['row'], inTexts)

type SpentRow = readonly [
  ...call: [id: number, durationUs: number | null, client: string | null, keyFingerprint: string | null],
  upstreamName: string | null,
  ...spent: StoredRow,
]

/** Tokens of clients, keys or upstreams by the minute of the calls' end, for calls that began in a span of time. */
export function usageOfClients(
  statements: RowStatements,
  { of, at, fromMs, toMs, endedBeforeMs }: ClientUsageQuestion,
): readonly ClientUsage[] {
  const keys = of.filter(isFingerprint).map((hex) => Number.parseInt(hex, 16) | 0)
  const ids = [firstIdAt(Math.floor(fromMs)), firstIdAt(Math.floor(toMs))]
  const sums = new Map<string, { -readonly [Name in keyof ClientUsage]: ClientUsage[Name] }>()
  const lists = [of, keys, at].map((list) => JSON.stringify(list))
  for (const row of statements.all<SpentRow>(spentSql, ...ids, ...lists)) {
    const [id, durationUs, client, keyFingerprint, upstreamName, ...fields] = row
    const endedMs = startedAtMs(id) + (durationUs ?? 0) / 1000
    if (endedMs >= endedBeforeMs) continue
    const call = spentCall(fields)
    const estimated = estimatedTokens(call)
    const minute = Math.floor(endedMs / 60_000)
    const key = JSON.stringify([client, keyFingerprint, upstreamName, minute])
    const from = { client, keyFingerprint, upstreamName, minute }
    const sum = getOrAdd(sums, key, () => ({ ...from, tokens: 0, estimated: 0 }))
    sum.tokens += reportedTokens(call) + estimated
    sum.estimated = (sum.estimated ?? 0) + estimated
  }
  return [...sums.values()]
}

/** Longest wait (ms) of a call that counts as recently sent. */
const longestWaitMs = 3_600_000
const recent = `SELECT c.id, coalesce(c.receive_us, 0) + coalesce(c.queue_us, 0) + coalesce(c.retry_wait_us, 0), max(c.attempts, c.outcome_id = 6),
  (SELECT text FROM models WHERE id = c.model_id), ${whoseColumns}, ${callColumns.join(', ')}
  FROM calls AS c NOT INDEXED WHERE c.id >= ?1 AND c.call_type_id <= 2 AND c.source_id IS NULL
  AND (c.attempts > 0 OR c.outcome_id = 6) AND c.instance_id IN (${ownInstances})`

type RecentRow = readonly [
  ...call: [id: number, waitedUs: number, attempts: number, model: string | null],
  ...whose: [client: string | null, keyFingerprint: string | null, upstreamName: string | null],
  ...spent: StoredRow,
]

/** Calls that use a model and were sent since an instant (ms since the Unix epoch), in the order of arrival. */
export function recentCalls(statements: RowStatements, sentSinceMs: number): readonly RecentCall[] {
  const rows = statements.all<RecentRow>(recent, firstIdAt(Math.floor(sentSinceMs - longestWaitMs)))
  return rows.flatMap(([id, waitedUs, attempts, model, client, keyFingerprint, upstreamName, ...fields]) => {
    const sentMs = startedAtMs(id) + waitedUs / 1000
    if (sentMs < sentSinceMs) return []
    const call = spentCall(fields)
    const tokens = reportedTokens(call) + estimatedTokens(call)
    const minute = Math.floor(sentMs / 60_000)
    return [{ minute, tokens, client, keyFingerprint, upstreamName, model, sentMs, attempts }]
  })
}
