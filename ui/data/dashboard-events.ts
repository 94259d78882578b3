import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'
import { EventSnapshot, type TopicEvent } from './event-snapshot.ts'
import { EventStream } from './event-stream.ts'
import { SharedTurn, type TabMessage } from './shared-turn.ts'

/** What every page follows: payloads are for those that show them, and not for all tabs. */
const sharedTopics = ['gateway', 'calls', 'jobs', 'log'] as const

type Listener<Topic extends EventTopic> = (data: EventData[Topic]) => void

/**
 * What the dashboard tells of by itself. A browser keeps six connections to a host for all its tabs, so one of the
 * tabs that are seen holds the stream and passes on what comes; a tab that is hidden hears nothing. Where tabs cannot
 * agree upon one, as over http from another machine, each that is seen has a stream of its own.
 */
export class DashboardEvents {
  readonly #listeners = new Map<EventTopic, Set<Listener<never>>>()
  readonly #onReach = new Set<(isReached: boolean) => void>()
  readonly #turn: SharedTurn | null
  #stream: EventStream | null = null
  #snapshot = new EventSnapshot()
  #isReached: boolean | null = null

  constructor() {
    this.#turn = SharedTurn.isPossible
      ? new SharedTurn({
          onTurn: () => this.#open(),
          onEnd: () => this.#close(),
          onMessage: (message) => this.#hear(message),
          onNewcomer: () => ({
            kind: 'snapshot',
            events: this.#snapshot.events(),
            isReached: this.#isReached,
          }),
        })
      : null
  }

  /** Begins, and from then on minds whether the page is seen. */
  follow(): void {
    const mind = (): void => (document.hidden ? this.#leave() : this.#join())
    document.addEventListener('visibilitychange', mind)
    // A page that comes out of the browser's cache of pages has lost its connections.
    addEventListener('pageshow', mind)
    addEventListener('pagehide', () => this.#leave())
    mind()
  }

  /** Calls back with all that comes of a topic, until the function that it answers is called. */
  on<Topic extends EventTopic>(topic: Topic, listener: Listener<Topic>): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** Calls back when the stream is open, perhaps again, and when it broke or cannot be had: it goes on trying. */
  onReach(listener: (isReached: boolean) => void): () => void {
    this.#onReach.add(listener)
    return () => void this.#onReach.delete(listener)
  }

  #join(): void {
    if (this.#turn === null) this.#open()
    else this.#turn.join()
  }

  #leave(): void {
    if (this.#turn === null) this.#close()
    else this.#turn.leave()
  }

  #open(): void {
    if (this.#stream !== null) return
    this.#snapshot = new EventSnapshot()
    this.#stream = new EventStream(sharedTopics, {
      onEvent: (event) => {
        this.#snapshot.take(event)
        this.#tell(event)
        this.#turn?.post({ kind: 'event', event })
      },
      onReach: (isReached) => {
        this.#tellReached(isReached)
        this.#turn?.post({ kind: 'reach', isReached })
      },
    })
  }

  #close(): void {
    this.#stream?.close()
    this.#stream = null
  }

  /** From the tab that has the stream. */
  #hear(message: TabMessage): void {
    if (message.kind === 'event') this.#tell(message.event)
    else if (message.kind === 'reach') this.#tellReached(message.isReached)
    else {
      for (const event of message.events) this.#tell(event)
      if (message.isReached !== null) this.#tellReached(message.isReached)
    }
  }

  #tell([topic, data]: TopicEvent): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(data as never)
  }

  #tellReached(isReached: boolean): void {
    this.#isReached = isReached
    for (const listener of this.#onReach) listener(isReached)
  }
}
