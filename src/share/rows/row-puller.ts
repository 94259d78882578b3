import { storedFields } from '../../call/fields/call-fields.ts'
import type { Inbox, PulledRow } from '../../store/share/inbox.ts'
import { type EventRow, minuteColumns, type MinuteRow } from '../../store/share/outbox.ts'
import type { SharedDatabase } from './shared-database.ts'
import type { SharedDictionary } from './shared-dictionary.ts'

/** Most rows of a pull. */
const rowsPerBatch = 1000
/**
 * Rows that are read again after each connection: after a failover, the database may have lost its last rows,
 * and given their numbers to others.
 */
const readAgain = 10_000

const columns = storedFields.map(({ column }) => column).join(', ')
const rowsBeyond = `SELECT seq, first_seq, id, ${columns} FROM tokenweir.calls
  WHERE seq > $1 AND seq <= $2 AND store_id <> $3 AND id >= $4 ORDER BY seq LIMIT ${rowsPerBatch}`
const history = (table: string, time: string, others: readonly string[]): string =>
  `SELECT ${[time, 'w.text', ...others].join(', ')}
    FROM tokenweir.${table} AS m JOIN tokenweir.words AS w ON w.id = m.instance_id
    WHERE seq > $1 AND seq <= $2 AND store_id <> $3`
const minutesBeyond = history('gateway_minutes', 'minute', minuteColumns)
const eventsBeyond = history('gateway_events', 'at_ms', ['kind', 'detail'])

/** Progress of a file's copy of other gateways' rows. */
export interface PullProgress {
  /** Numbers of rows in the shared database. */
  readonly pulled: number
  readonly last: number
}

/** Returns a function that copies the next rows of others into this file, as {@link pullSome}. */
export function rowPuller(
  database: SharedDatabase,
  inbox: Inbox,
  words: SharedDictionary,
  warn: (message: string) => void,
): () => Promise<PullProgress | null> {
  let store: { readonly name: string; readonly id: number } | null = null
  /** Rows up to this number were read through this connection; null before the first rows. */
  let next: number | null = null
  return pullSome

  /** Copies the next rows. Resolves with null while this file is no store of the database yet. */
  async function pullSome(): Promise<PullProgress | null> {
    const { state } = inbox
    const cursors = state.cursors()
    if (cursors === null) return null
    const storeId = await storeIdOf(cursors.replica)
    if (storeId === null) return null
    const [[lastSeq] = []] = await database.query('SELECT last_seq FROM tokenweir.row_state')
    const last = Number(lastSeq)
    const isOlder = cursors.pulled_seq > last
    if (isOlder) state.set({ pulled_seq: 0, known_until_seq: last })
    const reached = isOlder ? 0 : cursors.pulled_seq
    const from = isOlder ? 0 : (next ?? Math.max(0, reached - readAgain))
    if (from === last) return { pulled: last, last }
    const fetched = await database.query(rowsBeyond, [from, last, storeId, cursors.from_id])
    const pulled = fetched.length < rowsPerBatch ? last : Number(fetched.at(-1)?.[0])
    const rows = await named(fetched)
    const span = [from, pulled, storeId]
    const minutes = (await database.query(minutesBeyond, span)) as unknown as readonly MinuteRow[]
    const events = (await database.query(eventsBeyond, span)) as unknown as readonly EventRow[]
    // Another process may have restarted the copy meanwhile.
    if (state.cursors()?.replica !== cursors.replica) return null
    const { dropped, conflicts } = inbox.write(rows)
    // Calls here with the same ids get other ids when they are sent, so these rows wait.
    if (conflicts > 0 && state.waiting().rows > 0) return null
    if (dropped > 0) warn(`${dropped} calls of other gateways have the ids of calls here and are left out`)
    inbox.writeHistory(minutes, events)
    next = pulled
    // The copy is complete, and has all earlier rows.
    if (pulled > reached || pulled === last)
      state.set({ pulled_seq: pulled, ...(pulled === last && { known_until_seq: last }) })
    return { pulled, last }
  }

  async function storeIdOf(name: string): Promise<number | null> {
    if (store?.name !== name) {
      next = null
      const [[id] = []] = await database.query('SELECT id FROM tokenweir.stores WHERE name = $1', [name])
      store = id === undefined ? null : { name, id: Number(id) }
    }
    return store?.id ?? null
  }

  async function named(rows: readonly (readonly unknown[])[]): Promise<readonly PulledRow[]> {
    const wordColumns = storedFields.flatMap(({ table }, index) => (table === undefined ? [] : [index + 3]))
    const ids = new Set<number>()
    for (const row of rows) {
      for (const at of wordColumns) if (typeof row[at] === 'number') ids.add(row[at])
    }
    await words.load(ids)
    return rows.map((row) => {
      const values = row.slice(2) as (number | string | null)[]
      for (const at of wordColumns) {
        const id = values[at - 2]
        if (typeof id === 'number') values[at - 2] = words.textOf(id)
      }
      return { values, seq: Number(row[0]), firstSeq: Number(row[1]) }
    })
  }
}
