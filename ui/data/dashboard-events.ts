import { type TopicEvent, openStream } from './event-stream.ts'
import { type TabMessage, canShareTurns, shareTurns } from './shared-turn.ts'

/** What every page follows: payloads are for those that show them, and not for all tabs. */
const sharedTopics = ['gateway', 'calls', 'jobs', 'log'] as const

/** Who hears what the dashboard tells of by itself. */
export interface EventListener {
  readonly onEvent: (event: TopicEvent) => void
  /** The stream is open, perhaps again; or it broke or cannot be had: it goes on trying. */
  readonly onReach: (isReached: boolean) => void
  /** What was told before, for a tab that comes later. */
  readonly soFar: () => readonly TopicEvent[]
}

/**
 * Follows what the dashboard tells of by itself, for as long as the page is open, and minds whether it is seen. A
 * browser keeps six connections to a host for all its tabs, so one of the tabs that are seen holds the stream and passes
 * on what comes; a tab that is hidden hears nothing. If tabs cannot agree upon one, as over http from another machine,
 * each that is seen has a stream of its own.
 */
export function followEvents({ onEvent, onReach, soFar }: EventListener): void {
  let wasReached: boolean | null = null
  let closeStream: (() => void) | null = null
  /** From the stream, or from the tab that has it. */
  const hear = ({ events, isReached }: TabMessage): void => {
    for (const event of events) onEvent(event)
    if (isReached === null) return
    wasReached = isReached
    onReach(isReached)
  }
  const pass = (message: TabMessage): void => {
    hear(message)
    turns?.post(message)
  }
  const open = (): void => {
    closeStream ??= openStream(sharedTopics, {
      onEvent: (event) => pass({ events: [event], isReached: null }),
      onReach: (isReached) => pass({ events: [], isReached }),
    })
  }
  const close = (): void => {
    closeStream?.()
    closeStream = null
  }
  const turns = canShareTurns()
    ? shareTurns({
        onTurn: open,
        onEnd: close,
        onMessage: hear,
        onNewcomer: () => ({ events: soFar(), isReached: wasReached }),
      })
    : null
  const { join, leave } = turns ?? { join: open, leave: close }
  const mind = (): void => (document.hidden ? leave() : join())
  document.addEventListener('visibilitychange', mind)
  // A page that comes out of the browser's cache of pages has lost its connections.
  addEventListener('pageshow', mind)
  addEventListener('pagehide', leave)
  mind()
}
