import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'
import { ask } from './dashboard-api.ts'

/** An event of any topic. */
export type TopicEvent = {
  readonly [Topic in EventTopic]: readonly [topic: Topic, data: EventData[Topic]]
}[EventTopic]

/** After a first failure, which mostly is a dashboard that was started anew. */
const soonMs = 300
const retryMs = 2000
/** So many beats may be missed before the stream is taken to be broken. */
const patience = 2.5

/** Who reads a stream. */
export interface StreamReader {
  /** `text` is the JSON that its data came as. */
  readonly onEvent: (event: TopicEvent, text: string) => void
  /** The stream is open, perhaps again; or it cannot be had, which is told anew with every attempt. */
  readonly onReach: (isReached: boolean) => void
}

/** The dashboard's event stream: one connection, which is opened again whenever it breaks. */
export class EventStream {
  readonly #topics: readonly EventTopic[]
  readonly #reader: StreamReader
  #source: EventSource | null = null
  #retry: ReturnType<typeof setTimeout> | undefined
  #silence: ReturnType<typeof setTimeout> | undefined
  #silenceMs = 60_000
  #failures = 0
  /** Ends a question whether the dashboard is there. */
  #asking: AbortController | null = null
  readonly #reopen = (): void => this.#open()

  /** Opens it. Beats come with every stream. */
  constructor(topics: readonly EventTopic[], reader: StreamReader) {
    this.#topics = [...topics, 'beat']
    this.#reader = reader
    // The browser has found a network: what was open before may hang.
    addEventListener('online', this.#reopen)
    this.#open()
  }

  close(): void {
    removeEventListener('online', this.#reopen)
    this.#stop()
  }

  #open(): void {
    this.#stop()
    const source = new EventSource(`/api/events?topics=${this.#topics.join(',')}`)
    this.#source = source
    source.addEventListener('open', () => {
      this.#failures = 0
      this.#heard()
      this.#reader.onReach(true)
    })
    for (const topic of this.#topics) {
      source.addEventListener(topic, ({ data }: MessageEvent<string>) => {
        const event = [topic, JSON.parse(data)] as unknown as TopicEvent
        if (event[0] === 'beat') this.#silenceMs = event[1].every_ms * patience
        this.#heard()
        this.#reader.onEvent(event, data)
      })
    }
    // Its own retry gives up for good where the answer is no stream.
    source.addEventListener('error', () => this.#failed())
  }

  #stop(): void {
    clearTimeout(this.#retry)
    clearTimeout(this.#silence)
    this.#asking?.abort()
    this.#source?.close()
    this.#source = null
  }

  #heard(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(this.#reopen, this.#silenceMs)
  }

  #failed(): void {
    this.#stop()
    this.#failures += 1
    if (this.#failures > 1) this.#reader.onReach(false)
    this.#retry = setTimeout(() => void this.#tryAgain(), this.#failures > 1 ? retryMs : soonMs)
  }

  /** A stream does not say why it cannot be had. A question does: where the session is over, it leads to sign in. */
  async #tryAgain(): Promise<void> {
    const asking = new AbortController()
    this.#asking = asking
    try {
      await ask('/api/proxy/status', asking.signal)
      if (!asking.signal.aborted) this.#open()
    } catch {
      if (!asking.signal.aborted) this.#failed()
    }
  }
}
