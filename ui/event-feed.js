/** @import { EventData } from '../src/api/dashboard-event.ts' */

const retryMs = 2000

/**
 * @typedef FeedReader
 * @property {(status: EventData['gateway']) => void} onGateway
 * @property {(lines: EventData['log']) => void} onLog
 * @property {() => void} onReached the stream is open, perhaps again
 * @property {() => void} onLost it broke, or cannot be had; it goes on trying
 */

/**
 * The one event stream of the page. It is closed while the tab is hidden, because a browser keeps no more than
 * six connections to a host for all its tabs.
 */
export class EventFeed {
  #reader
  /** @type {EventSource | null} */
  #source = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry

  /** @param {FeedReader} reader */
  constructor(reader) {
    this.#reader = reader
  }

  /** Opens the stream, and from then on minds whether the page is seen. */
  follow() {
    document.addEventListener('visibilitychange', () => this.#openIfSeen())
    // A page that comes out of the browser's cache of pages has lost its connections.
    addEventListener('pageshow', () => this.#openIfSeen())
    addEventListener('pagehide', () => this.#close())
    this.#openIfSeen()
  }

  #openIfSeen() {
    if (document.hidden) this.#close()
    else if (this.#source === null) this.#open()
  }

  #open() {
    clearTimeout(this.#retry)
    const source = new EventSource('/api/events?topics=gateway,log')
    this.#source = source
    source.addEventListener('open', () => this.#reader.onReached())
    source.addEventListener('gateway', ({ data }) => this.#reader.onGateway(JSON.parse(data)))
    source.addEventListener('log', ({ data }) => this.#reader.onLog(JSON.parse(data)))
    source.addEventListener('error', () => {
      // Its own retry gives up for good where the answer is no stream.
      this.#close()
      this.#retry = setTimeout(() => this.#openIfSeen(), retryMs)
      this.#reader.onLost()
    })
  }

  #close() {
    clearTimeout(this.#retry)
    this.#source?.close()
    this.#source = null
  }
}
