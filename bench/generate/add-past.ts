import type { DatabaseSync } from 'node:sqlite'
import type { StoredCall } from '../../src/call/call-record.ts'
import type { GatewayEvent, GatewayMinute } from '../../src/call/call-sink.ts'
import { costsOf } from '../../src/cli/demo-prices.ts'
import { type Past, pastMinutes } from '../../src/demo/past.ts'
import { seededRandom } from '../../src/demo/random.ts'
import { PriceBook } from '../../src/pricing/price-book.ts'
import { Summing } from '../../src/store/rollup/summing.ts'
import { inTransaction } from '../../src/store/sqlite/transaction.ts'
import { CallWriter } from '../../src/store/write/call-writer.ts'
import { HistoryWriter } from '../../src/store/write/history-writer.ts'
import { BatchEncoder, Dictionary } from '../../src/store/write/record-batch.ts'
import { type BusyPast, busyPast } from './busy-past.ts'

const callsAtOnce = 10_000
const callsSummedAtOnce = 100_000
const minuteMs = 60_000

/** Fills an empty database with the calls of a busy house, as its gateways would have recorded them. */
export function addPast(database: DatabaseSync, order: BusyPast): void {
  const past = busyPast(seededRandom(order.seed), order)
  const words = new Dictionary()
  const encoder = new BatchEncoder()
  const writer = new CallWriter(database, words, new PriceBook(costsOf(past.prices, 'snapshot')))
  const histories = past.gateways.map(
    ({ instance }) => new HistoryWriter(database, { instance, version: '' }),
  )
  for (const history of histories) history.write([], eventsOf(past))
  let calls: StoredCall[] = []
  let notes: (readonly GatewayMinute[])[] = []
  const write = (): void => {
    const batch = encoder.encode(calls)
    words.accept(batch)
    inTransaction(database, () => {
      const { dropped } = writer.write(batch)
      if (dropped > 0) throw new Error(`${dropped} calls could not be written`)
      for (const [i, history] of histories.entries()) {
        const minutes = notes.flatMap((minute) => minute[i] ?? [])
        history.write(minutes, [])
      }
    })
    calls = []
    notes = []
  }
  for (const minute of pastMinutes(past)) {
    calls.push(...minute.calls)
    notes.push(minute.notes)
    if (calls.length >= callsAtOnce) write()
  }
  write()
}

/** Makes the sums of all calls, as of `nowMs`. */
export function sumAll(database: DatabaseSync, nowMs: number): void {
  const summing = new Summing(database)
  while (summing.step(nowMs, callsSummedAtOnce));
}

/** Starts, ends, and a look at the configuration now and then. */
function eventsOf({ firstMinute, minutes, incidents, gateways }: Past): readonly GatewayEvent[] {
  const limit = JSON.stringify({ max_concurrent: gateways[0]?.slots })
  const event = (
    minute: number,
    kind: GatewayEvent['kind'],
    detail: string | null = limit,
  ): GatewayEvent => ({
    atMs: minute * minuteMs + 500,
    kind,
    detail,
  })
  const stops = incidents.filter(({ kind }) => kind === 'stopped')
  const configured = Math.max(0, Math.ceil((minutes - 3000) / 20_000))
  return [
    event(firstMinute, 'start'),
    ...stops.flatMap(({ fromMinute, toMinute }) => [
      event(fromMinute, fromMinute % 2 === 0 ? 'stop' : 'crash', null),
      event(toMinute, 'start'),
    ]),
    ...Array.from({ length: configured }, (_, i) => event(firstMinute + 3000 + 20_000 * i, 'config')),
  ]
}
