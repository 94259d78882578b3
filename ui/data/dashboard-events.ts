import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'
import { EventStream, type TopicEvent } from './event-stream.ts'
import { SharedTurn, type TabMessage } from './shared-turn.ts'

/** What every page follows: payloads are for those that show them, and not for all tabs. */
const sharedTopics = ['gateway', 'calls', 'jobs', 'log'] as const

type Listener<Topic extends EventTopic> = (data: EventData[Topic]) => void

/**
 * What the dashboard tells of by itself. A browser keeps six connections to a host for all its tabs, so one of the
 * tabs that are seen holds the stream and passes on what comes; a tab that is hidden hears nothing. If tabs cannot
 * agree upon one, as over http from another machine, each that is seen has a stream of its own.
 */
export class DashboardEvents {
  readonly #listeners = new Map<EventTopic, Set<Listener<never>>>()
  #onReach: (isReached: boolean) => void = () => undefined
  #turn: SharedTurn | null = null
  #stream: EventStream | null = null
  #isReached: boolean | null = null

  /**
   * Begins, and from then on minds whether the page is seen. Calls back when the stream is open, perhaps again, and
   * when it broke or cannot be had: it goes on trying. `soFar` tells a tab that comes later what was told before.
   */
  follow(onReach: (isReached: boolean) => void, soFar: () => readonly TopicEvent[]): void {
    this.#onReach = onReach
    if (SharedTurn.isPossible) {
      this.#turn = new SharedTurn({
        onTurn: () => this.#open(),
        onEnd: () => this.#close(),
        onMessage: (message) => this.#hear(message),
        onNewcomer: () => ({ events: soFar(), isReached: this.#isReached }),
      })
    }
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
    const pass = (message: TabMessage): void => {
      this.#hear(message)
      this.#turn?.post(message)
    }
    this.#stream = new EventStream(sharedTopics, {
      onEvent: (event) => pass({ events: [event], isReached: null }),
      onReach: (isReached) => pass({ events: [], isReached }),
    })
  }

  #close(): void {
    this.#stream?.close()
    this.#stream = null
  }

  /** From the stream, or from the tab that has it. */
  #hear({ events, isReached }: TabMessage): void {
    for (const [topic, data] of events) {
      for (const listener of this.#listeners.get(topic) ?? []) listener(data as never)
    }
    if (isReached === null) return
    this.#isReached = isReached
    this.#onReach(isReached)
  }
}
