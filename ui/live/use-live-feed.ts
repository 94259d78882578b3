import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { followEvents } from '../data/event-stream.ts'
import { LiveFeed } from './live-feed.ts'

/** New calls are drawn at most this often, as fast as a person reads. */
const drawEveryMs = 150
/**
 * The time for which a hidden page still listens. Browsers allow six connections per host, and the tab may be
 * forgotten.
 */
const hiddenLimitMs = 30_000

/** The feed, and whether it can be reached. */
export interface ListenedFeed {
  readonly feed: LiveFeed
  /** True if the gateway can be reached; null until that is known. */
  readonly isReached: boolean | null
  /** Renders again after the user changed the feed. */
  readonly redraw: () => void
}

/**
 * Listens to the gateway's payload feed while the component is rendered. The stream is a separate one, because
 * other views need no payloads.
 */
export function useLiveFeed(): ListenedFeed {
  const feed = useMemo(() => new LiveFeed(), [])
  const [isReached, setReached] = useState<boolean | null>(null)
  const [, redraw] = useReducer((rounds: number) => rounds + 1, 0)
  useEffect(() => {
    let drawTimer: ReturnType<typeof setTimeout> | undefined
    const plan = (): void => {
      drawTimer ??= setTimeout(() => {
        drawTimer = undefined
        redraw(0)
      }, drawEveryMs)
    }
    const stop = followEvents(
      ['payloads', 'live', 'calls'],
      {
        onEvent: ([topic, data], json) => {
          if (topic === 'payloads') feed.take(data, json)
          else if (topic === 'live') feed.takeLive(data)
          else if (topic === 'calls') feed.takeRecorded(data.calls as readonly CallJson[])
          else return
          plan()
        },
        onReach: (isNowReached) => {
          if (!isNowReached) feed.interrupt()
          setReached(isNowReached)
        },
        onPause: () => feed.interrupt(),
      },
      hiddenLimitMs,
    )
    return () => {
      clearTimeout(drawTimer)
      stop()
    }
  }, [feed])
  return { feed, isReached, redraw: () => redraw(0) }
}
