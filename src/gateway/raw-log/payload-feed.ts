import type { ServerResponse } from 'node:http'
import type { Clock } from '../../call/clock.ts'
import { Failure } from '../../call/failure.ts'
import { type FeedFrame, FeedMemory, frameOf, ownFrame } from './feed-memory.ts'
import { FeedReader } from './feed-reader.ts'
import type { RawLogService } from './raw-log-service.ts'

const maxReaders = 128
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

/** The live feed of payloads: what passes is sent to every reader as it can take it, and to none at a call's expense. */
export class PayloadFeed {
  readonly #log: Pick<RawLogService, 'status' | 'watch'>
  readonly #clock: Clock
  readonly #memory: FeedMemory
  readonly #readers = new Set<FeedReader>()
  /** Those that have yet to be served in this round. */
  #round: SetIterator<FeedReader> = this.#readers.values()
  #watch: Disposable | null = null
  #cancelServing: (() => void) | null = null
  #cancelBeat: (() => void) | null = null
  #cancelRest: (() => void) | null = null
  #isClosed = false

  /** `memoryBytes`: for readers that are behind, or come back. */
  constructor(log: Pick<RawLogService, 'status' | 'watch'>, clock: Clock, memoryBytes = 16 * 1024 * 1024) {
    this.#log = log
    this.#clock = clock
    this.#memory = new FeedMemory(memoryBytes)
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
    this.#watch ??= this.#log.watch({
      events: (events) => this.#take(events.map(frameOf)),
      dropped: (count) => this.#take([ownFrame({ type: 'dropped', count })]),
    })
    const memory = this.#memory
    const { place, isWhole } =
      lastSeq === null ? { place: memory.end, isWhole: true } : memory.resume(lastSeq)
    const opening = [ownFrame({ type: 'connected', enabled: this.#log.status().enabled }).bytes]
    if (!isWhole) opening.push(ownFrame({ type: 'dropped', count: null }).bytes)
    const reader = new FeedReader(response, memory, place, opening)
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

  #take(frames: readonly FeedFrame[]): void {
    for (const frame of frames) this.#memory.add(frame)
    this.#planServing(Math.min(collectMs.most, collectMs.least + collectMs.perReader * this.#readers.size))
  }

  #planServing(afterMs: number): void {
    if (this.#isClosed || this.#readers.size === 0) return
    this.#cancelServing ??= this.#clock.after(afterMs, () => this.#serve())
  }

  /** A slice of a round. A reader that is not done after its helping waits for the next round. */
  #serve(): void {
    const clock = this.#clock
    const untilMs = clock.now() + sliceMs
    this.#cancelServing = null
    let reader: FeedReader | undefined
    do {
      reader = this.#round.next().value
      if (reader?.isReady === true) reader.serve()
    } while (reader !== undefined && clock.now() < untilMs)
    if (reader === undefined) this.#round = this.#readers.values()
    if ([...this.#readers].some(({ isReady }) => isReady)) this.#planServing(pauseMs)
  }

  #leave(reader: FeedReader): void {
    this.#readers.delete(reader)
    if (this.#readers.size > 0 || this.#isClosed) return
    this.#cancelBeat?.()
    this.#cancelBeat = null
    this.#cancelRest = this.#clock.after(graceMs, () => this.#rest(), { background: true })
  }

  #planBeat(): () => void {
    return this.#clock.after(
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
