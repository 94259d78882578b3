import type { InstanceEvent, InstanceMinute, Outbox } from '../../store/share/outbox.ts'
import { numberArray, type SharedDatabase, textArray } from './shared-database.ts'
import type { SharedWords } from './shared-words.ts'

const perBatch = 5000
/** Looked at again each time: a gateway whose disk was full tells of old minutes later. */
const lateMinutes = 15

const figures = ['active_max', 'queued_max', 'at_limit_ms', 'admitted', 'dropped']
const isMore = figures.map((name) => `b.${name} > m.${name}`).join(' OR ')
const grown = figures.map((name) => `${name} = greatest(m.${name}, excluded.${name})`).join(', ')
const taken = `taken AS (
  UPDATE tokenweir.row_state SET last_seq = last_seq + 1 WHERE EXISTS (SELECT 1 FROM news) RETURNING last_seq
)`
/** The figures of a minute only grow, so whoever tells of it, and in whatever order, the largest are right. */
const addMinutes = `WITH news AS MATERIALIZED (
  SELECT b.* FROM unnest($2::int[], $3::int[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
    AS b(minute, instance_id, ${figures.join(', ')})
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
export class HistorySender {
  readonly #database: SharedDatabase
  readonly #outbox: Outbox
  readonly #words: SharedWords
  readonly #storeId: number
  /** What of the last minutes was sent, as text. */
  #sentMinutes = new Map<string, string>()
  #sentEvents = new Set<string>()
  #eventsFromMs = 0

  constructor(database: SharedDatabase, outbox: Outbox, words: SharedWords, storeId: number) {
    this.#database = database
    this.#outbox = outbox
    this.#words = words
    this.#storeId = storeId
  }

  async send(): Promise<void> {
    await this.#sendMinutes()
    await this.#sendEvents()
  }

  async #sendMinutes(): Promise<void> {
    for (let isWhole = false; !isWhole;) {
      const { sentMinute = 0 } = this.#outbox.state.marks() ?? {}
      const minutes = this.#outbox.minutes(sentMinute - lateMinutes, perBatch)
      isWhole = minutes.length < perBatch
      const news = minutes.filter((each) => this.#sentMinutes.get(minuteKey(each)) !== JSON.stringify(each))
      if (news.length > 0) {
        const ids = await this.#words.idsOf(news.map(({ instance }) => instance))
        await this.#database.query(addMinutes, [
          this.#storeId,
          numberArray(news.map(({ minute }) => minute)),
          numberArray(news.map(({ instance }) => ids.get(instance) ?? 0)),
          numberArray(news.map(({ activeMax }) => activeMax)),
          numberArray(news.map(({ queuedMax }) => queuedMax)),
          numberArray(news.map(({ atLimitMs }) => atLimitMs)),
          numberArray(news.map(({ admitted }) => admitted)),
          numberArray(news.map(({ dropped }) => dropped)),
        ])
      }
      this.#sentMinutes = new Map(minutes.map((each) => [minuteKey(each), JSON.stringify(each)]))
      const last = minutes.at(-1)?.minute ?? sentMinute
      if (last <= sentMinute) break
      this.#outbox.state.set({ sentMinute: isWhole ? last : Math.max(last, sentMinute + lateMinutes + 1) })
    }
  }

  async #sendEvents(): Promise<void> {
    for (let isWhole = false; !isWhole;) {
      const events = this.#outbox.events(this.#eventsFromMs - lateMinutes * 60_000, perBatch)
      isWhole = events.length < perBatch
      const news = events.filter((each) => !this.#sentEvents.has(eventKey(each)))
      if (news.length > 0) {
        const ids = await this.#words.idsOf(news.map(({ instance }) => instance))
        await this.#database.query(addEvents, [
          this.#storeId,
          numberArray(news.map(({ atMs }) => atMs)),
          numberArray(news.map(({ instance }) => ids.get(instance) ?? 0)),
          textArray(news.map(({ kind }) => kind)),
          textArray(news.map(({ detail }) => detail)),
        ])
      }
      this.#sentEvents = new Set(events.map(eventKey))
      const last = events.at(-1)?.atMs ?? this.#eventsFromMs
      if (last <= this.#eventsFromMs) break
      this.#eventsFromMs = last
    }
  }
}

function minuteKey({ minute, instance }: InstanceMinute): string {
  return `${minute} ${instance}`
}

function eventKey({ atMs, instance, kind }: InstanceEvent): string {
  return `${atMs} ${instance} ${kind}`
}
