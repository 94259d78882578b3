import type { EventTopic } from '../../api/dashboard-event.ts'

/** Who listens to a topic. */
export interface TopicReader {
  /** Takes JSON on one line. False if the reader is too far behind: it is not sent. */
  send(json: string): boolean
  /** Calls back once when what was refused could be sent; never if the reader leaves before. */
  whenRoom(callback: () => void): void
}

/** A subject of `/api/events`. One that nobody listens to costs nothing. */
export interface Topic {
  /** As it stands in `topics=`, and the name of its events. */
  readonly name: EventTopic
  /** Tells the reader how things stand, and then what changes, until the returned function is called. */
  subscribe(reader: TopicReader): () => void
}

/** How much was not told; null if nobody counted. */
export type Missed = number | null

interface Place {
  missed: Missed
  isWaiting: boolean
}

/**
 * The readers of one topic. One that is behind is told nothing more until it has room, and then how things stand and how
 * much it missed.
 */
export abstract class ReadTopic implements Topic {
  abstract readonly name: EventTopic
  readonly #places = new Map<TopicReader, Place>()

  subscribe(reader: TopicReader): () => void {
    if (this.#places.size === 0) this.begin()
    const place: Place = { missed: 0, isWaiting: false }
    this.#places.set(reader, place)
    this.#catchUp(reader, place)
    return () => {
      this.#places.delete(reader)
      if (this.#places.size === 0) this.rest()
    }
  }

  /** Called before the first reader is told anything. */
  protected abstract begin(): void

  /** Called when the last reader has left. */
  protected abstract rest(): void

  /** The events for a reader that is new, or has missed so much; none as long as nothing is known. */
  protected abstract current(missed: Missed): readonly string[]

  /** Tells all readers. `worth` counts as missed by those who cannot be told. */
  protected tell(json: string, worth: Missed = 0): void {
    for (const [reader, place] of this.#places) {
      if (place.isWaiting || !reader.send(json)) this.#miss(reader, place, worth)
    }
  }

  #miss(reader: TopicReader, place: Place, worth: Missed): void {
    place.missed = place.missed === null || worth === null ? null : place.missed + worth
    if (place.isWaiting) return
    place.isWaiting = true
    reader.whenRoom(() => {
      place.isWaiting = false
      if (this.#places.has(reader)) this.#catchUp(reader, place)
    })
  }

  #catchUp(reader: TopicReader, place: Place): void {
    if (this.current(place.missed).every((json) => reader.send(json))) place.missed = 0
    else this.#miss(reader, place, 0)
  }
}
