import type { EventTopic } from '../../api/dashboard-event.ts'

/** A subscriber of a topic. */
export interface TopicReader {
  /** Sends JSON on one line. Returns false, without sending, if the reader is too far behind. */
  send(json: string): boolean
  /** Calls back once when there is room again; never if the reader leaves before. */
  whenRoom(callback: () => void): void
}

/** Sends to all subscribers; a slow subscriber's missed count grows by `worth`. */
export type Publish = (json: string, worth?: number) => void

/** The state of a topic, from its first reader to its last. */
export interface TopicSource {
  /** The events for a new reader, or one that missed events; empty while the state is unknown. */
  current(missed: number): readonly string[]
  /** Reads the state now, because a request has just changed it. */
  refresh?(): void
  stop(): void
}

interface ReaderState {
  missed: number
  isWaiting: boolean
}

/**
 * A topic of `/api/events` and its readers. A reader gets the state, and then its changes. A reader that is behind gets
 * nothing until it has room, and then the state and the number of missed events. A topic without readers
 * costs nothing.
 */
export class Topic {
  /** The name in `topics=`, and of its events. */
  readonly name: EventTopic
  readonly #open: (publish: Publish) => TopicSource
  readonly #readers = new Map<TopicReader, ReaderState>()
  #source: TopicSource | null = null

  constructor(name: EventTopic, open: (publish: Publish) => TopicSource) {
    this.name = name
    this.#open = open
  }

  /** Sends to the reader until the returned function is called. */
  subscribe(reader: TopicReader): () => void {
    const source = (this.#source ??= this.#open((json, worth = 0) => this.#publish(json, worth)))
    const state: ReaderState = { missed: 0, isWaiting: false }
    this.#readers.set(reader, state)
    this.#catchUp(source, reader, state)
    return () => {
      this.#readers.delete(reader)
      if (this.#readers.size > 0) return
      source.stop()
      this.#source = null
    }
  }

  refresh(): void {
    this.#source?.refresh?.()
  }

  #publish(json: string, worth: number): void {
    for (const [reader, state] of this.#readers) {
      if (state.isWaiting || !reader.send(json)) this.#miss(reader, state, worth)
    }
  }

  #miss(reader: TopicReader, state: ReaderState, worth: number): void {
    state.missed += worth
    if (state.isWaiting) return
    state.isWaiting = true
    reader.whenRoom(() => {
      state.isWaiting = false
      if (this.#source !== null && this.#readers.has(reader)) this.#catchUp(this.#source, reader, state)
    })
  }

  #catchUp(source: TopicSource, reader: TopicReader, state: ReaderState): void {
    if (source.current(state.missed).every((json) => reader.send(json))) state.missed = 0
    else this.#miss(reader, state, 0)
  }
}
