import type { CallRecord } from '../../call/call-record.ts'

/** Bytes that a record takes at least; its texts come on top. */
const recordBytes = 1000

/** Ended calls that wait to be written, in order and bounded: the oldest make way. */
export class PendingCalls {
  readonly #countLimit: number
  readonly #bytesLimit: number
  #calls: CallRecord[] = []
  /** So many of the oldest were handed out by `takeNew`. */
  #seen = 0
  #bytes = 0

  constructor(countLimit: number, bytesLimit: number) {
    this.#countLimit = countLimit
    this.#bytesLimit = bytesLimit
  }

  get size(): number {
    return this.#calls.length
  }

  /** Takes one in, and hands back those that had to go, `elsewhere` being calls that count towards the limit too. */
  add(call: CallRecord, elsewhere: number): readonly CallRecord[] {
    this.#calls.push(call)
    this.#bytes += bytesOf(call)
    const dropped: CallRecord[] = []
    while (this.size > 0 && (this.size + elsewhere > this.#countLimit || this.#bytes > this.#bytesLimit)) {
      dropped.push(...this.take(1))
    }
    return dropped
  }

  /** The oldest, at most `limit`. */
  take(limit: number): readonly CallRecord[] {
    const taken = this.#calls.splice(0, limit)
    for (const call of taken) this.#bytes -= bytesOf(call)
    this.#seen = Math.max(0, this.#seen - taken.length)
    return taken
  }

  /** Those that came since this was last asked, which stay where they are. */
  takeNew(): readonly CallRecord[] {
    const calls = this.#calls.slice(this.#seen)
    this.#seen = this.size
    return calls
  }

  /** Those that were taken and could not be passed on are the oldest again. */
  putBack(calls: readonly CallRecord[]): void {
    this.#calls.unshift(...calls)
    this.#seen += calls.length
    for (const call of calls) this.#bytes += bytesOf(call)
  }
}

/** An estimate: two bytes a character of what clients and upstreams choose. */
function bytesOf(call: CallRecord): number {
  const characters =
    call.endpoint.length +
    (call.model?.length ?? 0) +
    (call.errorMessage?.length ?? 0) +
    (call.client?.length ?? 0) +
    (call.userAgent?.length ?? 0) +
    (call.session?.length ?? 0)
  return recordBytes + characters * 2
}
