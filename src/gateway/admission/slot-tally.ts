/** The slots in use at all upstreams of a gateway together, and who waits for them: their peaks are not those of each. */
export class SlotTally {
  #active = 0
  #queued = 0
  /** Since the start. Set here alone. */
  peakActive = 0
  #activeMax = 0
  #queuedMax = 0

  /** So many more, or fewer, at one of them. */
  changed(active: number, queued: number): void {
    this.#active += active
    this.#queued += queued
    if (this.#active > this.#activeMax) this.#activeMax = this.#active
    if (this.#queued > this.#queuedMax) this.#queuedMax = this.#queued
    if (this.#active > this.peakActive) this.peakActive = this.#active
  }

  /** The peaks since they were last closed; `closes` them. */
  peaks(closes: boolean): { readonly activeMax: number; readonly queuedMax: number } {
    const peaks = { activeMax: this.#activeMax, queuedMax: this.#queuedMax }
    if (closes) {
      this.#activeMax = this.#active
      this.#queuedMax = this.#queued
    }
    return peaks
  }
}
