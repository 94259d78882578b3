import type { TopicEvent } from './event-stream.ts'

const name = 'tokenweir-events'
/** The tab whose turn it is answers a newcomer at once, unless it is frozen. */
const answerMs = 3000
/** It passes on a beat every 15 s, and every attempt to reach the dashboard. */
const silenceMs = 45_000

/** What the tab whose turn it is tells the others. */
export interface TabMessage {
  readonly events: readonly TopicEvent[]
  /** Whether the dashboard is reached; null if there is nothing new to tell of it. */
  readonly isReached: boolean | null
}

/** What goes through the channel: the answer to a newcomer is for that one alone. */
type Envelope = { readonly newcomer: string } | { readonly to: string | null; readonly message: TabMessage }

/** What becomes of a tab's turn. */
export interface TurnTaker {
  readonly onTurn: () => void
  /** Its turn is over, or it leaves. */
  readonly onEnd: () => void
  /** From the tab whose turn it is, when that is another. */
  readonly onMessage: (message: TabMessage) => void
  /** What a newcomer is told, asked of the tab whose turn it is. */
  readonly onNewcomer: () => TabMessage
}

/**
 * Among the tabs of one browser that have joined, it is the turn of exactly one at a time: whoever holds a lock, which
 * the browser gives on when a tab leaves, is closed or crashes. One that holds it and says nothing loses it.
 */
export class SharedTurn {
  readonly #taker: TurnTaker
  readonly #id: string = crypto.randomUUID()
  #visit: AbortController | null = null
  #channel: BroadcastChannel | null = null
  #silence: ReturnType<typeof setTimeout> | undefined
  #isOurs = false

  constructor(taker: TurnTaker) {
    this.#taker = taker
  }

  /** Locks are for secure contexts: https, and this machine. */
  static get isPossible(): boolean {
    return isSecureContext && 'locks' in navigator && 'BroadcastChannel' in globalThis
  }

  join(): void {
    if (this.#visit !== null) return
    this.#visit = new AbortController()
    const channel = new BroadcastChannel(name)
    channel.addEventListener('message', ({ data }: MessageEvent<Envelope>) => this.#receive(data))
    this.#channel = channel
    this.#send({ newcomer: this.#id })
    void this.#wait(this.#visit.signal)
    this.#expect(answerMs)
  }

  leave(): void {
    this.#visit?.abort()
    this.#visit = null
    this.#end()
    this.#channel?.close()
    this.#channel = null
  }

  /** Tells the others. */
  post(message: TabMessage): void {
    this.#send({ to: null, message })
  }

  #receive(envelope: Envelope): void {
    if ('newcomer' in envelope) {
      if (this.#isOurs) this.#send({ to: envelope.newcomer, message: this.#taker.onNewcomer() })
    } else if (!this.#isOurs) {
      this.#expect(silenceMs)
      if (envelope.to === null || envelope.to === this.#id) this.#taker.onMessage(envelope.message)
    }
  }

  #send(envelope: Envelope): void {
    this.#channel?.postMessage(envelope)
  }

  /** Waits for its turn, and after a turn that was taken away for the next. */
  async #wait(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await navigator.locks.request(name, { signal }, () => this.#hold(signal))
      } catch {
        // It was taken away, or the tab has left.
        if (!signal.aborted) this.#end()
      }
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    try {
      await navigator.locks.request(name, { steal: true }, () => this.#hold(signal))
    } catch {
      if (!signal.aborted) this.#end()
    }
  }

  /** Until the tab leaves. */
  #hold(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    clearTimeout(this.#silence)
    this.#isOurs = true
    this.#taker.onTurn()
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  }

  #end(): void {
    clearTimeout(this.#silence)
    if (!this.#isOurs) return
    this.#isOurs = false
    this.#taker.onEnd()
  }

  /** Whoever's turn it is has to be heard of within so long. */
  #expect(ms: number): void {
    clearTimeout(this.#silence)
    const signal = this.#visit?.signal
    if (signal !== undefined) this.#silence = setTimeout(() => void this.#take(signal), ms)
  }
}
