import type { DatabaseSync } from 'node:sqlite'
import { idsPerMs } from '../../src/call/call-id.ts'
import { at, type CallRow } from './call-rows.ts'
import { instanceOf } from './generated-calls.ts'
import { upstreams } from './generated-models.ts'
import { type Incident, incidentsAt } from './incidents.ts'

const usPerMinute = 60_000_000

/** What one minute of a gateway was. */
interface Minute {
  calls: number
  /** Of calls that began in it, in slots. */
  busyUs: number
  /** Time in the queue, summed over its calls. */
  waitedUs: number
  queued: number
}

/** Budget, minutes and events of the gateways, in step with the calls. */
export class GatewayPast {
  readonly #slots: number
  readonly #tokens = new Map<number, number>()
  readonly #minutes = new Map<number, Map<number, Minute>>()

  constructor(slots: number) {
    this.#slots = slots
  }

  add(minute: number, rows: readonly CallRow[]): void {
    const byInstance = new Map<number, Minute>()
    for (const row of rows) {
      const durationUs = Number(row[at.duration_us])
      const tokens = Number(row[at.input_tokens]) + Number(row[at.output_tokens])
      if (tokens > 0) {
        const startUs = Math.floor(Number(row[at.id]) / idsPerMs) * 1000
        const ended = Math.floor((startUs + durationUs) / usPerMinute)
        this.#tokens.set(ended, (this.#tokens.get(ended) ?? 0) + tokens)
      }
      const instance = Number(row[at.instance_id])
      const own = byInstance.get(instance) ?? { calls: 0, busyUs: 0, waitedUs: 0, queued: 0 }
      own.calls++
      own.busyUs += Math.max(0, durationUs - Number(row[at.queue_us]))
      own.waitedUs += Number(row[at.queue_us])
      if (Number(row[at.queue_us]) > 1000) own.queued++
      byInstance.set(instance, own)
    }
    this.#minutes.set(minute, byInstance)
  }

  /** Within a transaction. */
  write(
    database: DatabaseSync,
    firstMinute: number,
    pastMinute: number,
    incidents: readonly Incident[],
  ): void {
    const addTokens = database.prepare('INSERT INTO budget_minutes VALUES (?, ?)')
    for (const [minute, tokens] of [...this.#tokens].sort(([a], [b]) => a - b)) addTokens.run(minute, tokens)
    const addMinute = database.prepare('INSERT INTO gateway_minutes VALUES (?, ?, ?, ?, ?, ?, 0)')
    const idOf = database.prepare('SELECT id FROM instances WHERE text = ?')
    const instances = upstreams.map((upstream) => Number(idOf.get(instanceOf(upstream))?.['id']))
    for (let minute = firstMinute; minute < pastMinute; minute++) {
      if (incidentsAt(incidents, minute).some(({ kind }) => kind === 'stopped')) continue
      for (const instance of instances) {
        addMinute.run(minute, instance, ...this.#use(this.#minutes.get(minute)?.get(instance)))
      }
    }
    this.#writeEvents(database, firstMinute, pastMinute, incidents)
  }

  /** Most in flight, most waiting, time at the limit and calls: a gateway notes idle minutes, too. */
  #use(minute: Minute | undefined): readonly [number, number, number, number] {
    if (minute === undefined) return [0, 0, 0, 0]
    const { calls, busyUs, waitedUs, queued } = minute
    const average = busyUs / usPerMinute
    const waiting = Math.min(queued, mostAtOnce(waitedUs / usPerMinute))
    // No call waits while a slot is free.
    const most = waiting > 0 ? this.#slots : Math.min(this.#slots, mostAtOnce(average))
    const atLimitMs = most < this.#slots ? 0 : Math.round(60_000 * Math.min(1, average / this.#slots))
    return [Math.max(1, most), waiting, atLimitMs, calls]
  }

  #writeEvents(
    database: DatabaseSync,
    firstMinute: number,
    pastMinute: number,
    incidents: readonly Incident[],
  ): void {
    const addEvent = database.prepare(
      'INSERT INTO gateway_events SELECT ?, id, ?, ? FROM instances WHERE text = ? ON CONFLICT DO NOTHING',
    )
    const event = (minute: number, kind: string, detail: string | null): void => {
      for (const upstream of upstreams)
        addEvent.run(minute * 60_000 + 500, kind, detail, instanceOf(upstream))
    }
    const limit = JSON.stringify({ max_concurrent: this.#slots })
    event(firstMinute, 'start', limit)
    for (const { kind, fromMinute, toMinute } of incidents) {
      if (kind !== 'stopped') continue
      event(fromMinute, fromMinute % 2 === 0 ? 'stop' : 'crash', null)
      event(toMinute, 'start', limit)
    }
    for (let minute = firstMinute + 3000; minute < pastMinute; minute += 20_000) {
      event(minute, 'config', limit)
    }
  }
}

/** A high count of random events with this average (Poisson: plus two standard deviations). */
function mostAtOnce(average: number): number {
  return Math.ceil(average + 2 * Math.sqrt(average))
}
