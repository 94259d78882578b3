import type { ServerResponse } from 'node:http'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import { frameOf, ownFrame } from './feed-frames.ts'
import { FeedMemory, type FeedPlace } from './feed-memory.ts'
import { FeedReader } from './feed-reader.ts'
import type { RawLogService, PayloadEvent } from './raw-log-service.ts'

const maxReaders = 128
const memoryBytes = 16 * 1024 * 1024
/** Proxies cut connections on which nothing comes for a minute, some for half of one. */
const beatMs = 15_000
/** For a reader that has lost its connection to come back and miss nothing. */
const graceMs = 10_000
/** Readers are served for so long at a time; then calls have their turn, for at least the pause. */
const sliceMs = 0.5
const pauseMs = 2
/** Events are collected before they are sent: the more readers there are, the longer. */
const collectMs = { least: 2, perReader: 0.4, most: 50 } as const
const retryAfterS = 5

export interface PayloadFeedOptions {
  readonly log: Pick<RawLogService, 'status' | 'watch'>
  readonly clock: Clock
  /** For readers that are behind, or come back. */
  readonly memoryBytes?: number
}

/** The live feed of payloads: what passes is sent to every reader as it can take it, and to none at a call's expense. */
export class PayloadFeed {
  readonly #options: PayloadFeedOptions
  readonly #memory: FeedMemory
  readonly #readers = new Set<FeedReader>()
  /** Those that have yet to be served in this round. */
  #round: FeedReader[] = []
  #watch: Disposable | null = null
  #cancelServing: (() => void) | null = null
  #cancelBeat: (() => void) | null = null
  #cancelRest: (() => void) | null = null
  #isClosed = false

  constructor(options: PayloadFeedOptions) {
    this.#options = options
    this.#memory = new FeedMemory(options.memoryBytes ?? memoryBytes)
  }

  get readers(): number {
    return this.#readers.size
  }

  /**
   * Takes over an answer of which nothing was sent, until its reader leaves or the feed ends. `lastSeq` is the record
   * that the reader saw last, on an earlier connection. Throws a `Failure` where it cannot be taken.
   */
  open(response: ServerResponse, lastSeq: number | null): void {
    if (this.#isClosed) throw new Failure('draining', 'The gateway is stopping.', { retryAfterS })
    if (this.#readers.size >= maxReaders) {
      const message = `The feed has ${maxReaders} readers already.`
      throw new Failure('too_many_readers', message, { retryAfterS })
    }
    this.#cancelRest?.()
    this.#cancelRest = null
    this.#watch ??= this.#options.log.watch({
      events: (events) => this.#take(events),
      dropped: (count) => this.#add(ownFrame({ type: 'dropped', count })),
    })
    const { place, isWhole } = this.#placeFor(lastSeq)
    const opening = [ownFrame({ type: 'connected', enabled: this.#options.log.status().enabled }).bytes]
    if (!isWhole) opening.push(ownFrame({ type: 'dropped', count: null }).bytes)
    const reader = new FeedReader(response, this.#memory, place, opening)
    this.#readers.add(reader)
    response.on('drain', () => this.#planServing(0))
    response.once('close', () => this.#leave(reader))
    this.#cancelBeat ??= this.#planBeat()
    reader.serve()
  }

  /** Ends every stream, for good: readers come back to whoever answers then. */
  close(): void {
    this.#isClosed = true
    for (const reader of this.#readers) reader.end()
    this.#readers.clear()
    this.#cancelServing?.()
    this.#cancelBeat?.()
    this.#rest()
  }

  #placeFor(lastSeq: number | null): { readonly place: FeedPlace; readonly isWhole: boolean } {
    return lastSeq === null ? { place: this.#memory.end, isWhole: true } : this.#memory.resume(lastSeq)
  }

  #take(events: readonly PayloadEvent[]): void {
    for (const event of events) this.#memory.add(frameOf(event))
    this.#planServing(this.#collectMs)
  }

  #add(frame: ReturnType<typeof ownFrame>): void {
    this.#memory.add(frame)
    this.#planServing(this.#collectMs)
  }

  get #collectMs(): number {
    return Math.min(collectMs.most, collectMs.least + collectMs.perReader * this.#readers.size)
  }

  #planServing(afterMs: number): void {
    if (this.#isClosed || this.#readers.size === 0) return
    this.#cancelServing ??= this.#options.clock.after(afterMs, () => this.#serve())
  }

  /** A slice of a round. A reader that is not done after its helping waits for the next round. */
  #serve(): void {
    const { clock } = this.#options
    const untilMs = clock.now() + sliceMs
    this.#cancelServing = null
    if (this.#round.length === 0) this.#round = [...this.#readers].filter(({ isReady }) => isReady)
    while (this.#round.length > 0) {
      this.#round.pop()?.serve()
      if (clock.now() >= untilMs) break
    }
    const isOver = this.#round.length === 0
    if (!isOver || [...this.#readers].some(({ isReady }) => isReady)) this.#planServing(pauseMs)
  }

  #leave(reader: FeedReader): void {
    this.#readers.delete(reader)
    const at = this.#round.indexOf(reader)
    if (at >= 0) this.#round.splice(at, 1)
    if (this.#readers.size > 0 || this.#isClosed) return
    this.#cancelBeat?.()
    this.#cancelBeat = null
    this.#cancelRest = this.#options.clock.after(graceMs, () => this.#rest(), { background: true })
  }

  #planBeat(): () => void {
    return this.#options.clock.after(
      beatMs,
      () => {
        for (const reader of this.#readers) reader.beat()
        this.#planServing(0)
        this.#cancelBeat = this.#planBeat()
      },
      { background: true },
    )
  }

  /** Nobody watches: calls cost nothing again, and nothing is remembered. */
  #rest(): void {
    this.#cancelRest?.()
    this.#cancelRest = null
    this.#watch?.[Symbol.dispose]()
    this.#watch = null
    this.#memory.clear()
  }
}
