import type { EventData, EventTopic } from '../../src/api/dashboard-event.ts'
import { ask } from './dashboard-api.ts'

/** An event of any topic. */
export type TopicEvent = {
  readonly [Topic in EventTopic]: readonly [topic: Topic, data: EventData[Topic]]
}[EventTopic]

/** The pause after a first failure, which usually is a dashboard that restarts. */
const soonMs = 300
const retryMs = 2000
/** Missed beats after which the stream counts as broken. */
const patience = 2.5

/** Reads a stream. */
export interface StreamReader {
  /** `text` is the JSON that its data came as. */
  readonly onEvent: (event: TopicEvent, text: string) => void
  /** The stream is open, perhaps again; or an attempt to open it failed. */
  readonly onReach: (isReached: boolean) => void
  /** Called when the stream was closed because the page is hidden. */
  readonly onPause?: () => void
}

/**
 * Keeps an event stream open while the page is seen, until the returned function is called. A browser has six
 * connections to a host for all its tabs, so a hidden tab gives its own back after `hiddenMs`. The dashboard begins
 * each stream with how things are.
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
  document.addEventListener('visibilitychange', followVisibility)
  // A page that comes out of the browser's cache of pages has lost its connections.
  addEventListener('pageshow', followVisibility)
  addEventListener('pagehide', pause)
  followVisibility()
  return () => {
    document.removeEventListener('visibilitychange', followVisibility)
    removeEventListener('pageshow', followVisibility)
    removeEventListener('pagehide', pause)
    pause()
  }
}

/**
 * Opens the dashboard's event stream: one connection, which is opened again whenever it breaks, until the function that
 * it answers is called. Beats come with every stream.
 */
export function openStream(topics: readonly EventTopic[], { onEvent, onReach }: StreamReader): () => void {
  const all = [...topics, 'beat'] as const
  let source: EventSource | null = null
  let retry: ReturnType<typeof setTimeout> | undefined
  let silence: ReturnType<typeof setTimeout> | undefined
  let silenceMs = 60_000
  let failures = 0
  /** Ends a question whether the dashboard is there. */
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
    // A connection attempt that hangs reports no error.
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
    // Its own retry gives up for good where the answer is no stream.
    opened.addEventListener('error', fail)
  }
  const fail = (): void => {
    stop()
    failures += 1
    if (failures > 1) onReach(false)
    retry = setTimeout(() => void tryAgain(), failures > 1 ? retryMs : soonMs)
  }
  /** A stream does not say why it cannot be had. A question does: where the session is over, it leads to sign in. */
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
