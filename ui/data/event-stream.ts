import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'
import { ask } from './dashboard-api.ts'

/** An event of any topic, with its data. */
export type TopicEvent = {
  readonly [Topic in EventTopic]: readonly [topic: Topic, data: EventData[Topic]]
}[EventTopic]

/** The pause after the first failure, which is usually a restart of the dashboard. */
const soonMs = 300
const retryMs = 2000
/** The number of missed beats after which the connection counts as broken. */
const patience = 2.5

/** The callbacks of a stream. */
export interface StreamReader {
  /** Called for each event; `text` is the JSON of its data. */
  readonly onEvent: (event: TopicEvent, text: string) => void
  /** Called with true when the stream opens, also again, and with false when an attempt fails. */
  readonly onReach: (isReached: boolean) => void
  /** Called when the stream was closed because the page is hidden. */
  readonly onPause?: () => void
}

/**
 * Keeps an event stream open while the page is visible, and returns a function that closes it. A hidden page closes
 * its stream after `hiddenMs`, because browsers allow six connections per host for all tabs. Each stream begins
 * with the current state.
 */
export function followEvents(topics: readonly EventTopic[], reader: StreamReader, hiddenMs = 0): () => void {
  let closeStream: (() => void) | null = null
  let hidden: ReturnType<typeof setTimeout> | undefined
  const pause = (): void => {
    clearTimeout(hidden)
    if (closeStream === null) return
    closeStream()
    closeStream = null
    reader.onPause?.()
  }
  const followVisibility = (): void => {
    clearTimeout(hidden)
    if (!document.hidden) closeStream ??= openStream(topics, reader)
    else if (hiddenMs > 0) hidden = setTimeout(pause, hiddenMs)
    else pause()
  }
  const leaving = new AbortController()
  const { signal } = leaving
  document.addEventListener('visibilitychange', followVisibility, { signal })
  // A page from the browser's back-forward cache has lost its connections.
  addEventListener('pageshow', followVisibility, { signal })
  addEventListener('pagehide', pause, { signal })
  followVisibility()
  return () => {
    leaving.abort()
    pause()
  }
}

/**
 * Opens the dashboard's event stream over one connection, and opens it again whenever it breaks. Returns a function
 * that closes it. The topic `beat` is always included.
 */
export function openStream(topics: readonly EventTopic[], { onEvent, onReach }: StreamReader): () => void {
  const all = [...topics, 'beat'] as const
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let silenceMs = 60_000
  let failures = 0
  /** Cancels the request that checks whether the dashboard answers. */
  let asking: AbortController | null = null

  const stop = (): void => {
    clearTimeout(retry)
    clearTimeout(silence)
    asking?.abort()
    source?.close()
  }
  const hear = (): void => {
    clearTimeout(silence)
    silence = setTimeout(fail, silenceMs)
  }
  const open = (): void => {
    stop()
    const opened = new EventSource(`/api/events?topics=${all.join(',')}`)
    source = opened
    // A hanging connection attempt reports no error, so its silence counts.
    hear()
    opened.addEventListener('open', () => {
      failures = 0
      hear()
      onReach(true)
    })
    for (const topic of all) {
      opened.addEventListener(topic, ({ data }: MessageEvent<string>) => {
        const event = [topic, JSON.parse(data)] as unknown as TopicEvent
        if (event[0] === 'beat') silenceMs = event[1].every_ms * patience
        hear()
        onEvent(event, data)
      })
    }
    // The browser does not retry if the answer was no stream, so the page does.
    opened.addEventListener('error', fail)
  }
  const fail = (): void => {
    stop()
    failures += 1
    if (failures > 1) onReach(false)
    retry = setTimeout(() => void tryAgain(), failures > 1 ? retryMs : soonMs)
  }
  /**
   * Requests the status, because a stream does not report the reason of a failure. If the session is over, the
   * request leads to the sign-in page.
   */
  const tryAgain = async (): Promise<void> => {
    const { signal } = (asking = new AbortController())
    try {
      await ask('/api/proxy/status', signal)
      if (!signal.aborted) open()
    } catch {
      if (!signal.aborted) fail()
    }
  }

  // After a change of network, the old connection may hang.
  addEventListener('online', open)
  open()
  return () => {
    removeEventListener('online', open)
    stop()
  }
}
