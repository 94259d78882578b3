import type { CallRecord } from '../../call/call-record.ts'

/** Bytes that a record takes at least; its texts come on top. */
const recordBytes = 1000

/** Ended calls that wait to be written, in order and bounded: the oldest make way. */
export class PendingCalls {
  readonly #countLimit: number
  readonly #bytesLimit: number
  #calls: CallRecord[] = []
  #head = 0
  /** Those before it were handed out by `takeNew`. */
  #seen = 0
  #bytes = 0

  constructor(countLimit: number, bytesLimit: number) {
    this.#countLimit = countLimit
    this.#bytesLimit = bytesLimit
  }

  get size(): number {
    return this.#calls.length - this.#head
  }

  /** Takes one in, and hands back those that had to go, `elsewhere` being calls that count towards the limit too. */
  add(call: CallRecord, elsewhere: number): readonly CallRecord[] {
    this.#calls.push(call)
    this.#bytes += bytesOf(call)
    let excess = 0
    while (this.size - excess + elsewhere > this.#countLimit && excess < this.size) excess++
    const dropped = excess === 0 ? [] : [...this.take(excess)]
    while (this.#bytes > this.#bytesLimit && this.size > 0) dropped.push(...this.take(1))
    return dropped
  }

  /** The oldest, at most `limit`. */
  take(limit: number): readonly CallRecord[] {
    const taken = this.#calls.slice(this.#head, this.#head + limit)
    for (const call of taken) this.#bytes -= bytesOf(call)
    this.#head += taken.length
    if (this.#head === this.#calls.length || this.#head > 4096) {
      this.#calls = this.#calls.slice(this.#head)
      this.#seen = Math.max(0, this.#seen - this.#head)
      this.#head = 0
    }
    return taken
  }

  /** Those that came since this was last asked, which stay where they are. */
  takeNew(): readonly CallRecord[] {
    const calls = this.#calls.slice(Math.max(this.#head, this.#seen))
    this.#seen = this.#calls.length
    return calls
  }

  /** Those that were taken and could not be passed on are the oldest again. */
  putBack(calls: readonly CallRecord[]): void {
    this.#calls = [...calls, ...this.#calls.slice(this.#head)]
    this.#seen = Math.max(0, this.#seen - this.#head) + calls.length
    this.#head = 0
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
