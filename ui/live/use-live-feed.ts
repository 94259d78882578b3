import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import type { CallJson } from '../../src/call/call-record.ts'
import { followEvents } from '../data/event-stream.ts'
import { LiveFeed } from './live-feed.ts'

/** The intervals of drawing: as fast as a person reads, and slower when too many calls arrive. */
const [drawEveryMs, busyEveryMs] = [100, 250]
const busyEvents = 12
/**
 * The time for which a hidden page still listens. Browsers allow six connections per host, and the tab may be
 * forgotten.
 */
const hiddenLimitMs = 30_000

/**
 * Listens to the gateway's payload feed while the component is rendered. The stream is a separate one, because
 * other views need no payloads. New calls are rendered at most once a frame.
 */
export function useLiveFeed() {
  const feed = useMemo(() => new LiveFeed(), [])
  /** True if the gateway can be reached; null until that is known. */
  const [isReached, setReached] = useState<boolean | null>(null)
  const [, redraw] = useReducer((rounds: number) => rounds + 1, 0)
  useEffect(() => {
    let drawTimer: ReturnType<typeof setTimeout> | undefined
    let frame = 0
    let sinceDrawn = 0
    let isBusy = false
    const plan = (): void => {
      sinceDrawn += 1
      drawTimer ??= setTimeout(
        () => {
          frame = requestAnimationFrame(() => {
            drawTimer = undefined
            isBusy = sinceDrawn > busyEvents
            sinceDrawn = 0
            redraw(0)
          })
        },
        isBusy ? busyEveryMs : drawEveryMs,
      )
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
      cancelAnimationFrame(frame)
      stop()
    }
  }, [feed])
  return {
    feed,
    isReached,
    /** Renders again after the user changed the feed. */
    redraw: () => redraw(0),
  }
}
