import { type EventRow, minuteColumns, type MinuteRow } from '../../store/share/outbox.ts'
import type { SendingSides } from './row-sender.ts'
import { textArray } from './shared-database.ts'

/** Most minutes of a statement. */
const perBatch = 5000
/** Minutes that are sent again each time, because a gateway whose disk was full writes old minutes late. */
const lateMinutes = 15

const isMore = minuteColumns.map((name) => `b.${name} > m.${name}`).join(' OR ')
const grown = minuteColumns.map((name) => `${name} = greatest(m.${name}, excluded.${name})`).join(', ')
const taken = `taken AS (
  UPDATE tokenweir.row_state SET last_seq = last_seq + 1 WHERE EXISTS (SELECT 1 FROM news) RETURNING last_seq
)`
/** Adds minutes. A minute's figures only grow, so the largest are right in any order of senders. */
const addMinutes = `WITH news AS MATERIALIZED (
  SELECT b.* FROM unnest($2::int[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
    AS b(minute, instance_id, ${minuteColumns.join(', ')})
  LEFT JOIN tokenweir.gateway_minutes AS m ON m.minute = b.minute AND m.instance_id = b.instance_id
  WHERE m.minute IS NULL OR ${isMore}
), ${taken}
INSERT INTO tokenweir.gateway_minutes AS m SELECT news.*, last_seq, $1::int FROM news, taken
ON CONFLICT (minute, instance_id) DO UPDATE SET ${grown}, seq = excluded.seq, store_id = excluded.store_id`
const addEvents = `WITH news AS MATERIALIZED (
  SELECT b.* FROM unnest($2::bigint[], $3::int[], $4::text[], $5::text[]) AS b(at_ms, instance_id, kind, detail)
  LEFT JOIN tokenweir.gateway_events AS e
    ON e.at_ms = b.at_ms AND e.instance_id = b.instance_id AND e.kind = b.kind WHERE e.at_ms IS NULL
), ${taken}
INSERT INTO tokenweir.gateway_events SELECT news.*, last_seq, $1::int FROM news, taken ON CONFLICT DO NOTHING`

/** Sends the gateways' own minutes and events. */
export function historySender(sides: SendingSides): () => Promise<void> {
  /** The rows of the last minutes that were sent, as text. */
  let sent: ReadonlySet<string> = new Set()
  return send

  async function send(): Promise<void> {
    const { outbox } = sides
    for (let isLastPage = false; !isLastPage;) {
      const { sent_minute: sentMinute = 0 } = outbox.state.cursors() ?? {}
      const fromMinute = sentMinute - lateMinutes
      const minutes = outbox.minutes(fromMinute, perBatch)
      const events = outbox.events(fromMinute * 60_000)
      await sendNew(addMinutes, minutes)
      await sendNew(addEvents, events)
      sent = new Set([...minutes, ...events].map((row) => JSON.stringify(row)))
      const [last] = minutes.at(-1) ?? [sentMinute]
      if (last <= sentMinute) return
      isLastPage = minutes.length < perBatch
      outbox.state.set({ sent_minute: isLastPage ? last : Math.max(last, sentMinute + lateMinutes + 1) })
    }
  }

  /** Sends rows except those that were sent before, as an array for each column. */
  async function sendNew(sql: string, rows: readonly (MinuteRow | EventRow)[]): Promise<void> {
    const news = rows.filter((row) => !sent.has(JSON.stringify(row)))
    const [first] = news
    if (first === undefined) return
    const { shared, words, storeId } = sides
    const ids = await words.idsOf(news.map(([, instance]) => instance))
    const toSend = news.map((row) => row.with(1, ids.get(row[1]) ?? 0))
    const columns = first.map((_, at) => textArray(toSend.map((row) => row[at] ?? null)))
    await shared.query(sql, [storeId, ...columns])
  }
}
