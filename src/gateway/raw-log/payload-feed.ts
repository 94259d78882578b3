import type { ServerResponse } from 'node:http'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import { type FeedFrame, FeedReader, beatFrame, frameOf, ownFrame } from './feed-reader.ts'
import type { RawLog } from '../../payloads/raw-log.ts'

/** Most readers of the feed at once. */
const maxReaders = 128
/** Interval of beats: proxies close connections that are silent for a minute, some after 30 s. */
const beatMs = 15_000
/** Readers are served for this time; then calls have at least the pause. */
const sliceMs = 0.5
const pauseMs = 2
/** Time (ms) for which events are collected before they are sent; it grows with the number of readers. */
const collectMs = { least: 2, perReader: 0.4, most: 50 } as const
/** Most bytes that are collected while readers are served. */
const maxCollectedBytes = 16 * 1024 * 1024
const retryAfterS = 5

/** The live feed of payloads. Each reader gets the events that fit in its buffer; no call waits for a reader. */
export class PayloadFeed {
  readonly #log: Pick<RawLog, 'status' | 'watch'>
  readonly #clock: Clock
  readonly #readers = new Set<FeedReader>()
  /** Events for the next round. */
  #collected: FeedFrame[] = []
  #collectedBytes = 0
  /** Number of records that were left out of the next round. */
  #lostRecords = 0
  /** The events of this round, and the readers that have yet to get them. */
  #frames: readonly FeedFrame[] = []
  #round: FeedReader[] = []
  #watch: Disposable | null = null
  #cancelServing: (() => void) | null = null
  #cancelBeat: (() => void) | null = null
  #isClosed = false

  constructor(log: Pick<RawLog, 'status' | 'watch'>, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  get readers(): number {
    return this.#readers.size
  }

  /**
   * Sends the feed to a reader until it leaves or the feed ends. The response must not have begun. Throws a
   * `Failure`: `draining`, `too_many_readers`.
   */
  open(response: ServerResponse): void {
    if (this.#isClosed) throw new Failure('draining', 'The gateway is stopping.', { retryAfterS })
    if (this.#readers.size >= maxReaders) {
      const message = `The feed has ${maxReaders} readers already.`
      throw new Failure('too_many_readers', message, { retryAfterS })
    }
    this.#watch ??= this.#log.watch({
      events: (events) => {
        for (const event of events) this.#collect(frameOf(event))
      },
      dropped: (count) => this.#collect(ownFrame({ type: 'dropped', count })),
    })
    const reader = new FeedReader(response, this.#log.status().enabled)
    this.#readers.add(reader)
    response.once('close', () => this.#leave(reader))
    this.#cancelBeat ??= this.#planBeat()
  }

  /** Ends all streams. Readers then connect to the next gateway. */
  close(): void {
    this.#isClosed = true
    for (const reader of this.#readers) reader.end()
    this.#readers.clear()
    this.#stopWatching()
  }

  #collect(frame: FeedFrame): void {
    if (this.#collectedBytes > maxCollectedBytes) {
      this.#lostRecords += frame.records
      return
    }
    this.#collected.push(frame)
    this.#collectedBytes += frame.bytes.length
    this.#planServing(Math.min(collectMs.most, collectMs.least + collectMs.perReader * this.#readers.size))
  }

  #planServing(afterMs: number): void {
    this.#cancelServing ??= this.#clock.after(afterMs, () => this.#serve())
  }

  /** Serves readers for one slice. */
  #serve(): void {
    const clock = this.#clock
    const untilMs = clock.now() + sliceMs
    this.#cancelServing = null
    if (this.#round.length === 0) this.#beginRound()
    do this.#round.pop()?.give(this.#frames)
    while (this.#round.length > 0 && clock.now() < untilMs)
    if (this.#round.length === 0) this.#frames = []
    if (this.#round.length > 0 || this.#collected.length > 0) this.#planServing(pauseMs)
  }

  #beginRound(): void {
    const count = this.#lostRecords
    if (count > 0) this.#collected.push(ownFrame({ type: 'dropped', count }))
    this.#frames = this.#collected
    this.#round = [...this.#readers]
    this.#forgetCollected()
  }

  #forgetCollected(): void {
    this.#collected = []
    this.#collectedBytes = 0
    this.#lostRecords = 0
  }

  #leave(reader: FeedReader): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0 && !this.#isClosed) this.#stopWatching()
  }

  #planBeat(): () => void {
    return this.#clock.after(
      beatMs,
      () => {
        for (const reader of this.#readers) reader.beat()
        this.#collect(beatFrame)
        this.#cancelBeat = this.#planBeat()
      },
      { background: true },
    )
  }

  /** Stops watching the log, so that the feed costs calls nothing without readers. */
  #stopWatching(): void {
    this.#cancelBeat?.()
    this.#cancelBeat = null
    this.#cancelServing?.()
    this.#cancelServing = null
    this.#watch?.[Symbol.dispose]()
    this.#watch = null
    this.#frames = []
    this.#round = []
    this.#forgetCollected()
  }
}
