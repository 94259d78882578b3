import type { GatewayMinute } from '../../call/call-sink.ts'

/** Counts the calls at all upstreams of a gateway together: their peak is not the sum of each upstream's peaks. */
export class SlotTally {
  #active = 0
  #queued = 0
  #peakActive = 0
  #activeMax = 0
  #queuedMax = 0

  /** Most calls in flight since the start. */
  get peakActive(): number {
    return this.#peakActive
  }

  /** Adds calls in flight and waiting calls of one upstream; negative numbers take them away. */
  changed(active: number, queued: number): void {
    this.#active += active
    this.#queued += queued
    if (this.#active > this.#activeMax) this.#activeMax = this.#active
    if (this.#queued > this.#queuedMax) this.#queuedMax = this.#queued
    if (this.#active > this.#peakActive) this.#peakActive = this.#active
  }

  /** The peaks since the last close. With `isOver`, the next peaks begin with the present calls. */
  peaks(isOver: boolean): Pick<GatewayMinute, 'activeMax' | 'queuedMax'> {
    const peaks = { activeMax: this.#activeMax, queuedMax: this.#queuedMax }
    if (isOver) {
      this.#activeMax = this.#active
      this.#queuedMax = this.#queued
    }
    return peaks
  }
}
