const minuteMs = 60_000
/**
 * Length (ms) of the cells in which a minute is counted. A cell counts for a minute after its end and for one
 * more cell, because a call takes some time to reach the provider.
 */
const cellMs = 100
const cells = minuteMs / cellMs + 2
/** Share of the limit that may be used at once after a pause. The rest is spread evenly. */
const burstShare = 0.05

/** An amount used at one time, with its age in milliseconds. */
export type MinuteUse = readonly [ageMs: number, amount: number]

/**
 * Admits at most `limit` calls or tokens in any sliding minute, evenly: after a small burst, calls go at the pace of the limit
 * (GCRA, ITU-T I.371). All times are monotonic milliseconds.
 */
export class MinuteLimit {
  /** Most use within a minute. A change also applies to past use. An infinite limit only counts. */
  limit: number
  /** True if no call may use the limit: an old gateway uses it first, or the past use is unknown. */
  isClosed = false
  /** All use so far. Only this class sets it. */
  total = 0
  /** Share of the limit that may be used. */
  readonly #share: number
  readonly #cells = new Float64Array(cells)
  #sum = 0
  /** The number of the newest cell: milliseconds divided by the cell's length. */
  #newest = 0
  /** When the bucket is empty at the pace of the limit (monotonic ms). */
  #emptyAtMs = -Infinity

  constructor(limit: number, share = 1) {
    this.limit = limit
    this.#share = share
  }

  /** The use within the last minute. */
  used(nowMs: number): number {
    this.#advance(nowMs)
    return this.#sum
  }

  /** Milliseconds until `amount` may be used; infinite while closed. An amount above the limit waits for an empty minute. */
  waitMs(nowMs: number, amount: number): number {
    if (this.isClosed) return Infinity
    if (this.limit === Infinity) return 0
    this.#advance(nowMs)
    const bounded = Math.min(amount, this.#most)
    const burst = Math.max(bounded, this.#most * burstShare)
    const pacedAtMs = this.#emptyAtMs - (burst - bounded) * this.#msEach
    return Math.max(0, pacedAtMs - nowMs, this.#roomAtMs(bounded) - nowMs)
  }

  /** Adds an amount that was used at `atMs`, here or elsewhere; several amounts in the order of their times. */
  add(nowMs: number, atMs: number, amount: number): void {
    this.#advance(nowMs)
    this.#addTo(Math.floor(atMs / cellMs), amount)
    if (this.limit !== Infinity)
      this.#emptyAtMs = Math.max(this.#emptyAtMs, atMs) + Math.min(amount, this.#most) * this.#msEach
  }

  /** Adds `more`, or takes it off if negative, at the time of an earlier use. */
  correct(nowMs: number, takenAtMs: number, more: number): void {
    this.#advance(nowMs)
    this.#addTo(Math.floor(takenAtMs / cellMs), more)
    if (this.limit !== Infinity) this.#emptyAtMs += more * this.#msEach
  }

  /** Moves a use to now, when it really happened. */
  move(nowMs: number, takenAtMs: number, amount: number): void {
    this.#advance(nowMs)
    const cell = Math.floor(takenAtMs / cellMs)
    if (cell === this.#newest) return
    this.#addTo(cell, -amount)
    this.#addTo(this.#newest, amount)
  }

  /** Raises the use within the last minute to `used`. The added amount counts for `forMs`. */
  correctTo(nowMs: number, used: number, forMs = minuteMs): void {
    this.#advance(nowMs)
    const atMs = nowMs - minuteMs + Math.min(forMs, minuteMs)
    if (used > this.#sum && forMs > 0) this.#addTo(Math.floor(atMs / cellMs), used - this.#sum)
  }

  /** The uses within the last minute, the oldest first. */
  uses(nowMs: number): readonly MinuteUse[] {
    this.#advance(nowMs)
    const uses: MinuteUse[] = []
    for (let cell = this.#newest - cells + 1; cell <= this.#newest; cell++) {
      const amount = this.#cells[indexOf(cell)] ?? 0
      if (amount > 0) uses.push([Math.max(0, nowMs - (cell + 1) * cellMs), amount])
    }
    return uses
  }

  get #most(): number {
    return this.limit * this.#share
  }

  get #msEach(): number {
    return minuteMs / Math.max(this.#most, 1e-3)
  }

  #addTo(cell: number, amount: number): void {
    this.total += amount
    if (cell <= this.#newest - cells || cell > this.#newest) return
    const at = indexOf(cell)
    const before = this.#cells[at] ?? 0
    const after = Math.max(0, before + amount)
    this.#cells[at] = after
    this.#sum += after - before
  }

  /** When enough use is older than a minute, so that `amount` has room (monotonic ms). */
  #roomAtMs(amount: number): number {
    let over = this.#sum + amount - this.#most
    // Sums of fractions are not exact.
    for (let cell = this.#newest - cells + 1; over > 1e-6 && cell <= this.#newest; cell++) {
      over -= this.#cells[indexOf(cell)] ?? 0
      if (over <= 1e-6) return (cell + cells) * cellMs
    }
    return 0
  }

  #advance(nowMs: number): void {
    const cell = Math.floor(nowMs / cellMs)
    const from = Math.max(this.#newest + 1, cell - cells + 1)
    for (let next = from; next <= cell; next++) {
      this.#sum -= this.#cells[next % cells] ?? 0
      this.#cells[next % cells] = 0
    }
    if (cell > this.#newest) this.#newest = cell
    if (this.#sum < 1e-6) this.#sum = 0
  }
}

/**
 * The index of a cell in the ring. A cell may be negative: a monotonic clock begins at 0 with its process,
 * and use elsewhere may be earlier.
 */
function indexOf(cell: number): number {
  return ((cell % cells) + cells) % cells
}
