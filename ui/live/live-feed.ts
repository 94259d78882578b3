import type { PayloadEvent } from '../../src/api/dashboard-event.ts'
import type { LiveCalls } from '../../src/api/live-calls.ts'
import type { OutgoingRecord, PayloadRecord } from '../../src/api/raw-log.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { nowMs } from '../data/dashboard-clock.ts'
import type { PageAddress } from '../data/page-address.ts'
import { type CallHead, LiveCall } from '../payloads/live-call.ts'

/** The dashboard's clock is known to the second, so calls near the start may arrive twice. */
const clockSlackMs = 2000

/** The last calls of the gateway's payload feed since the page began to listen. */
export class LiveFeed {
  /** The calls, oldest first. The array is replaced when a call is added or removed. */
  calls: readonly LiveCall[] = []
  /** The number of calls that arrived, including removed ones. */
  total = 0
  /** The number of records that the gateway left out, because there were too many at once. */
  dropped = 0
  /** True if the feed was interrupted, so that records are missing. */
  hasGap = false
  /** The calls in progress, from the gateway's last report; null before the first one. */
  board: LiveCalls | null = null
  /** True while a gateway sends the feed. */
  isConnected = false
  readonly #mostCalls: number
  readonly #mostHeld: number
  readonly #byId = new Map<string, LiveCall>()
  #wasLost = false
  /** A recorded call that the feed lacks is added only if it began before this time. */
  #sinceMs = Number.NEGATIVE_INFINITY

  /**
   * @param mostCalls the most listed calls
   * @param mostHeld the most characters of JSON of all calls; beyond, the oldest calls lose their JSON
   */
  constructor(mostCalls: number = 2000, mostHeld: number = 24_000_000) {
    this.#mostCalls = mostCalls
    this.#mostHeld = mostHeld
  }

  /** The characters of JSON of all calls. */
  get heldLength(): number {
    return this.calls.reduce((sum, call) => sum + call.heldLength, 0)
  }

  get models(): readonly string[] {
    return [...new Set(this.calls.flatMap(({ model }) => model ?? []))].sort()
  }

  /** Applies an event. `json` is its data as it arrived. */
  take(event: PayloadEvent, json: string): void {
    if (!('type' in event)) this.#takeRecord(event, json)
    else if (event.type === 'started') {
      if (!this.#byId.has(event.id)) this.#add({ ...event, startedMs: Date.parse(event.timestamp) })
    } else if (event.type === 'dropped') {
      this.dropped += event.count
      this.#loseRunning()
    } else if (event.type === 'connected') {
      this.isConnected = true
      this.hasGap ||= this.#wasLost
      this.#wasLost = false
      this.#sinceMs = nowMs() + clockSlackMs
    } else {
      this.#wasLost ||= this.isConnected
      this.interrupt()
    }
  }

  /** Applies a report of the calls in progress, which may have begun before the page listened. */
  takeLive(board: LiveCalls): void {
    const { calls, more } = (this.board = board)
    const listedIds = new Set(calls.map(({ id }) => id))
    const oldestMs = this.calls.length < this.#mostCalls ? 0 : (this.calls[0]?.startedMs ?? 0)
    for (const { id, started_at, path, ...rest } of calls) {
      const startedMs = Date.parse(started_at)
      if (startedMs < oldestMs) continue
      const call = this.#byId.get(id) ?? this.#add({ id, startedMs, path })
      call.takeState(rest)
    }
    // If the report lists only some calls, an unlisted call may still be in progress.
    if (more > 0) return
    for (const call of this.calls)
      if (call.isUnderWay && call.state !== null && !listedIds.has(call.id)) call.leave()
  }

  /** Applies recorded calls, and adds those whose start the page missed. */
  takeRecorded(rows: readonly CallJson[]): void {
    for (const row of rows) {
      const startedMs = Date.parse(row.started_at)
      const isOld = startedMs < this.#sinceMs
      const head = { id: row.id, startedMs, path: row.endpoint }
      const call = this.#byId.get(row.id) ?? (isOld ? this.#add(head) : null)
      call?.takeRow(row)
    }
  }

  /** Returns the recorded call; null if it is not yet recorded, or not listed. */
  recordOf(id: string): CallJson | null {
    return this.#byId.get(id)?.row ?? null
  }

  /** Notes that the feed was interrupted, so that the end of open calls may be missed. */
  interrupt(): void {
    this.isConnected = false
    this.#loseRunning()
  }

  /** Removes the ended calls. */
  clear(): void {
    this.#sinceMs = Number.NEGATIVE_INFINITY
    const running = this.calls.filter((call) => call.isUnderWay)
    this.#byId.clear()
    for (const call of running) this.#byId.set(call.id, call)
    this.calls = running
    this.dropped = 0
    this.hasGap = false
  }

  #takeRecord(record: PayloadRecord | OutgoingRecord, json: string): void {
    const call = this.#byId.get(record.id) ?? this.#add(headOf(record))
    if (isAnswer(record)) call.takeAnswer(record, json)
    else call.takeRequest(record, json)
    this.#makeRoom()
  }

  #add(head: CallHead): LiveCall {
    const call = new LiveCall(head, this.total)
    this.total += 1
    this.#byId.set(call.id, call)
    const over = Math.max(0, this.calls.length + 1 - this.#mostCalls)
    for (const dropped of this.calls.slice(0, over)) {
      this.#byId.delete(dropped.id)
      dropped.release()
    }
    const remaining = this.calls.slice(over)
    // Calls stay in the order of their starts, even if a start was missed.
    const after = remaining.findLastIndex(({ startedMs }) => startedMs <= call.startedMs)
    this.calls = remaining.toSpliced(after + 1, 0, call)
    return call
  }

  /** Drops the JSON of the oldest calls until the rest fits. */
  #makeRoom(): void {
    let over = this.heldLength - this.#mostHeld
    for (const call of this.calls) {
      if (over <= 0) return
      over -= call.heldLength
      call.release()
    }
  }

  #loseRunning(): void {
    for (const call of this.calls) call.lose()
  }
}

function isAnswer(record: PayloadRecord): record is OutgoingRecord {
  return record.direction === 'outgoing'
}

/** Returns the start of a call that the page missed. */
function headOf(record: PayloadRecord | OutgoingRecord): CallHead {
  const { id, path, timestamp } = record
  const tookMs = isAnswer(record) ? record.duration_ms : 0
  return { id, path, startedMs: Date.parse(timestamp) - tookMs }
}

/** Selects calls of the feed. */
export interface LiveFilter {
  readonly models: readonly string[]
  readonly errorsOnly: boolean
  /** The pattern of the search; null for any text. */
  readonly pattern: RegExp | null
}

/** Reads the filter from the address. */
export function liveFilterOf({ models, errorsOnly, text }: PageAddress): LiveFilter {
  return { models, errorsOnly, pattern: text.trim() === '' ? null : patternOf(text.trim()) }
}

/** Returns the calls to show, newest first. */
export function shownCalls(calls: readonly LiveCall[], filter: LiveFilter): readonly LiveCall[] {
  return calls.filter((call) => isShown(call, filter)).reverse()
}

function isShown(call: LiveCall, { models, errorsOnly, pattern }: LiveFilter): boolean {
  if (models.length > 0 && (call.model === null || !models.includes(call.model))) return false
  if (errorsOnly && call.ended?.failed !== true) return false
  return pattern === null || call.has(pattern)
}

/** Returns a pattern that ignores case. The pattern finds the text itself, and as JSON writes it within a string. */
function patternOf(text: string): RegExp {
  const forms = new Set([text, JSON.stringify(text).slice(1, -1)])
  return new RegExp([...forms].map(escaped).join('|'), 'i')
}

/** Some supported browsers lack `RegExp.escape`. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
