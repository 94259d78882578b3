import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { startedAtMs } from '../../call/call-id.ts'
import { addCall, entryOf, type FigureRow, figureSourceList, valueIn } from './call-figures.ts'
import { Figures } from './rollup-figures.ts'
import { groupings, halvesGroupingId, maxKeys } from './rollup-groupings.ts'
import { RollupKeys } from './rollup-keys.ts'
import { coarseLevels, halfLevel, quarterMs, quartersOf } from './rollup-spans.ts'
import { addFigures, figureColumns, RollupTable } from './rollup-table.ts'

/** Calls of one quarter hour that no grouping tells apart, and one of them. */
interface Cell {
  readonly quarter: number
  readonly call: FigureRow
  readonly figures: Figures
}

/** The quarters by time; all other places are in the spans by key. */
const quarterLevel = 0
const hourLevel = 1
const quartersPerHour = quartersOf(hourLevel)
const quartersPerDay = quartersOf(3)
/** The levels that are made from others of `rollup_spans`, from the finest on. */
const widerLevels = [
  { level: 2, quarters: quartersOf(2), finer: hourLevel },
  { level: 3, quarters: quartersPerDay, finer: 2 },
] as const

/** What a transaction left behind for the next. */
interface RollState {
  /** The calls up to this `seq` are counted. */
  readonly watermark: number
  /** Coarse slots that end at this quarter or before are complete. A whole hour. */
  readonly coarseUntil: number
  /** Of the hour that begins there, the keys up to this one are already in the coarse slots that end with it. */
  readonly coarseKey: number
}

/**
 * Adds calls to the rollups in the order in which they were written, each once: what is added and how far that
 * has come change in one transaction. A coarse slot is made from the finer ones when its time is over; what comes
 * later than that is added to it directly.
 */
export class RollForward {
  readonly #database: DatabaseSync
  readonly #state: StatementSync
  readonly #setState: StatementSync
  readonly #lastSeq: StatementSync
  readonly #callAt: StatementSync
  readonly #calls: StatementSync
  readonly #nextQuarter: StatementSync
  readonly #someKeys: StatementSync
  readonly #finer: StatementSync
  readonly #quarters: RollupTable
  readonly #spans: RollupTable
  readonly #keys: RollupKeys

  constructor(database: DatabaseSync, keyLimit: number = maxKeys) {
    this.#database = database
    this.#state = database.prepare('SELECT watermark_seq, coarse_until, coarse_key FROM rollup_state')
    this.#setState = database.prepare(
      'UPDATE rollup_state SET watermark_seq = ?, coarse_until = ?, coarse_key = ?',
    )
    this.#lastSeq = database.prepare('SELECT coalesce(max(seq), 0) AS seq FROM calls')
    this.#callAt = database.prepare('SELECT id FROM calls WHERE seq <= ? ORDER BY seq DESC LIMIT 1')
    this.#calls = database.prepare(
      `SELECT ${figureSourceList()} FROM calls WHERE seq > ? ORDER BY seq LIMIT ?`,
    )
    this.#calls.setReturnArrays(true)
    this.#nextQuarter = database.prepare('SELECT min(slot) AS slot FROM rollup_quarters WHERE slot >= ?')
    this.#someKeys = database.prepare(
      'SELECT id, grouping_id FROM rollup_keys WHERE id > ? ORDER BY id LIMIT ?',
    )
    this.#finer = database.prepare(
      `SELECT ${figureColumns} FROM rollup_spans WHERE level = ? AND key_id = ? AND slot >= ? AND slot < ?`,
    )
    this.#finer.setReturnArrays(true)
    this.#quarters = new RollupTable(database, 'rollup_quarters', ['slot', 'key_id'])
    this.#spans = new RollupTable(database, 'rollup_spans', ['level', 'key_id', 'slot'])
    this.#keys = new RollupKeys(database, keyLimit)
  }

  /** Adds up to `limit` calls, or makes coarse slots of up to `limit` keys; false where nothing is left to do. */
  step(nowMs: number, limit: number): boolean {
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const hasMore = this.#step(Math.floor(nowMs / quarterMs), limit)
      this.#database.exec('COMMIT')
      return hasMore
    } catch (error) {
      this.#keys.forget()
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  #step(quarterNow: number, limit: number): boolean {
    const row = this.#state.get()
    const state: RollState = {
      watermark: Number(row?.['watermark_seq']),
      coarseUntil: Number(row?.['coarse_until']),
      coarseKey: Number(row?.['coarse_key']),
    }
    const isBehind = Number(this.#lastSeq.get()?.['seq']) - state.watermark > limit
    // While many calls are still to come, a time is over when calls of a later one have come.
    const now = isBehind ? Math.min(quarterNow, this.#quarterReached(state.watermark)) : quarterNow
    if (this.#completeSome(state, now, limit)) return true
    const calls = this.#calls.all(state.watermark, limit) as unknown as readonly FigureRow[]
    const last = calls.at(-1)
    if (last === undefined) return false
    this.#add(cellsOf(calls), state.coarseUntil)
    this.#setState.run(valueIn(last, 'seq'), state.coarseUntil, state.coarseKey)
    return calls.length === limit
  }

  #quarterReached(watermark: number): number {
    return quarterOf(Number(this.#callAt.get(watermark)?.['id'] ?? 0))
  }

  /** Makes coarse slots whose time is over; false where there are none. */
  #completeSome({ watermark, coarseUntil, coarseKey }: RollState, now: number, limit: number): boolean {
    const hourEnd = coarseUntil + quartersPerHour
    // An hour that was begun is finished first, whatever the clock says now: until then no call may be added.
    if (hourEnd > now && coarseKey === 0) return false
    if (coarseKey === 0) {
      // Days before this one are complete; where it is empty too, there is nothing to make for a while.
      const next = this.#nextQuarter.get(startOf(coarseUntil, quartersPerDay))?.['slot'] ?? null
      const until = startOf(next === null ? now : Math.min(now, Number(next)), quartersPerHour)
      if (startOf(until, quartersPerDay) > startOf(coarseUntil, quartersPerDay)) {
        this.#setState.run(watermark, next === null ? until : startOf(until, quartersPerDay), 0)
        return true
      }
    }
    const keys = this.#someKeys.all(coarseKey, limit)
    for (const { id, grouping_id } of keys) {
      if (grouping_id === halvesGroupingId) this.#completeHalves(Number(id), hourEnd)
      this.#complete(Number(id), hourEnd)
    }
    if (keys.length < limit) this.#setState.run(watermark, hourEnd, 0)
    else this.#setState.run(watermark, coarseUntil, Number(keys.at(-1)?.['id'] ?? 0))
    return true
  }

  /** Makes the two half hours of a key's hour that ends at a quarter. */
  #completeHalves(key: number, end: number): void {
    const { level, quarters } = halfLevel
    for (let start = end - quartersPerHour; start < end; start += quarters) {
      const half = this.#sumOf(key, start, start + quarters)
      if (half.sum('calls') > 0) this.#spans.put([level, key, start / quarters], half)
    }
  }

  /** Makes a key's coarse slots that end at a quarter. Where there are no quarters, the hour was made by adding calls. */
  #complete(key: number, end: number): void {
    const hour = this.#sumOf(key, end - quartersPerHour, end)
    if (hour.sum('calls') > 0) this.#spans.put([hourLevel, key, end / quartersPerHour - 1], hour)
    for (const { level, quarters, finer } of widerLevels) {
      if (end % quarters !== 0) return
      const slot = end / quarters - 1
      const parts = quarters / quartersOf(finer)
      const figures = new Figures()
      const rows = this.#finer.iterate(finer, key, slot * parts, (slot + 1) * parts)
      for (const row of rows as Iterable<unknown> as Iterable<readonly unknown[]>) addFigures(figures, row)
      if (figures.sum('calls') > 0) this.#spans.put([level, key, slot], figures)
    }
  }

  #sumOf(key: number, first: number, past: number): Figures {
    const sum = new Figures()
    for (let slot = first; slot < past; slot++) this.#quarters.addTo(sum, [slot, key])
    return sum
  }

  #add(cells: readonly Cell[], coarseUntil: number): void {
    const added = new Added()
    for (const { quarter, call, figures } of cells) {
      for (const grouping of groupings) {
        const entry = entryOf(call, grouping)
        if (entry === undefined) continue
        const key = this.#keys.idOf(
          grouping,
          valueIn(call, 'call_type_id') ?? 0,
          entry,
          valueIn(call, 'outcome_id') ?? 0,
        )
        const isHourly = grouping.second !== undefined
        if (!isHourly) added.add([quarterLevel, key, quarter], figures)
        const levels = grouping.id === halvesGroupingId ? [...coarseLevels, halfLevel] : coarseLevels
        for (const { level, quarters } of levels) {
          const start = startOf(quarter, quarters)
          const isMade = start + quarters <= coarseUntil || (isHourly && level === hourLevel)
          if (isMade) added.add([level, key, start / quarters], figures)
        }
      }
    }
    for (const { place, parts } of added.cells()) {
      const [level, key, slot] = place
      if (level === quarterLevel) this.#quarters.add([slot, key], parts)
      else this.#spans.add(place, parts)
    }
  }
}

type Place = readonly [level: number, key: number, slot: number]

interface AddedCell {
  readonly place: Place
  readonly parts: Figures[]
}

/** Figures by the cell that they belong to. */
class Added {
  readonly #cells = new Map<string, AddedCell>()

  add(place: Place, figures: Figures): void {
    const name = place.join(' ')
    const known = this.#cells.get(name)
    if (known === undefined) this.#cells.set(name, { place, parts: [figures] })
    else known.parts.push(figures)
  }

  /** In the order of the tables, so that neighbours are written one after the other. */
  cells(): readonly AddedCell[] {
    return [...this.#cells.values()].sort(
      ({ place: a }, { place: b }) =>
        a[0] - b[0] || (a[0] === 0 ? a[2] - b[2] || a[1] - b[1] : a[1] - b[1] || a[2] - b[2]),
    )
  }
}

function quarterOf(id: number): number {
  return Math.floor(startedAtMs(id) / quarterMs)
}

/** The first quarter of the slot of that width in which a quarter lies. */
function startOf(quarter: number, width: number): number {
  return Math.floor(quarter / width) * width
}

/** Adds up calls that every grouping puts into the same cells. */
function cellsOf(calls: readonly FigureRow[]): readonly Cell[] {
  const cells = new Map<string, Cell>()
  for (const call of calls) {
    const quarter = quarterOf(valueIn(call, 'id') ?? 0)
    // All that a grouping looks at. In one piece, as this is done for every call.
    const [, , type, outcome, model, client, endpoint, status, failure] = call
    const name = `${quarter} ${type} ${outcome} ${model} ${client} ${endpoint} ${status} ${failure}`
    let cell = cells.get(name)
    if (cell === undefined) {
      cell = { quarter, call, figures: new Figures() }
      cells.set(name, cell)
    }
    addCall(cell.figures, call)
  }
  return [...cells.values()]
}
