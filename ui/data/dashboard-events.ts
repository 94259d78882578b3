import { type StreamReader, type TopicEvent, openStream } from './event-stream.ts'

/** What every page follows: payloads are for those that show them, and not for all tabs. */
const sharedTopics = ['gateway', 'calls', 'jobs', 'log', 'alerts'] as const

const name = 'tokenweir-events'
/** The tab whose turn it is answers a newcomer at once, unless it is frozen. */
const answerMs = 3000
/** It passes on a beat every 15 s, and every attempt to reach the dashboard. */
const silenceMs = 45_000

/** What the tab whose turn it is tells the others. */
interface TabMessage {
  readonly events: readonly TopicEvent[]
  /** Whether the dashboard is reached; null if there is nothing new to tell of it. */
  readonly isReached: boolean | null
}

/** What goes through the channel: the answer to a newcomer is for that one alone. */
type Envelope = { readonly newcomer: string } | { readonly to: string | null; readonly message: TabMessage }

/** The time for which a tab is seen. */
interface Visit {
  readonly id: string
  readonly leaving: AbortController
  readonly channel: BroadcastChannel
}

/** Who hears what the dashboard tells of by itself. */
export interface EventListener extends Pick<StreamReader, 'onReach'> {
  readonly onEvent: (event: TopicEvent) => void
  /** What was told before, for a tab that comes later. */
  readonly soFar: () => readonly TopicEvent[]
}

/**
 * Follows what the dashboard tells of by itself, for as long as the page is open, and minds whether it is seen. A
 * browser keeps six connections to a host for all its tabs, so one of the tabs that are seen holds the stream and passes
 * on what comes; a tab that is hidden hears nothing. It is the turn of exactly one at a time: whoever holds a lock, which
 * the browser gives on when a tab leaves, is closed or crashes. One that holds it and says nothing loses it. If tabs
 * cannot agree upon one, as over http from another machine, each that is seen has a stream of its own.
 */
export function followEvents({ onEvent, onReach, soFar }: EventListener): void {
  let wasReached: boolean | null = null
  let closeStream: (() => void) | null = null
  let visit: Visit | null = null
  let silence: ReturnType<typeof setTimeout> | undefined
  /** This tab's turn; null while it is another's. */
  let turn: object | null = null

  const send = (envelope: Envelope): void => visit?.channel.postMessage(envelope)
  /** From the stream, or from the tab that has it. */
  const hear = ({ events, isReached }: TabMessage): void => {
    for (const event of events) onEvent(event)
    if (isReached === null) return
    wasReached = isReached
    onReach(isReached)
  }
  const pass = (message: TabMessage): void => {
    hear(message)
    send({ to: null, message })
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

  const endTurn = (): void => {
    clearTimeout(silence)
    turn = null
    close()
  }
  /** Has the turn from when the lock is given until the tab leaves, or the lock is taken away. False if it was never given. */
  const takeTurn = async (signal: AbortSignal, options: LockOptions): Promise<boolean> => {
    const own = {}
    let isGiven = false
    try {
      await navigator.locks.request(name, options, async () => {
        isGiven = true
        if (signal.aborted) return
        clearTimeout(silence)
        turn = own
        open()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      })
    } catch {
      // It was taken away, perhaps by this tab itself, whose second turn has begun by now; or the tab has left.
      if (!signal.aborted && turn === own) endTurn()
    }
    return isGiven
  }
  /** Waits for its turn, and after a turn that was taken away for the next. A browser that gives no locks has no turns. */
  const waitForTurns = async (signal: AbortSignal): Promise<void> => {
    while (await takeTurn(signal, { signal }));
    if (!signal.aborted) open()
  }
  /** Whoever's turn it is has to be heard of within so long. */
  const expect = (ms: number): void => {
    clearTimeout(silence)
    const signal = visit?.leaving.signal
    if (signal !== undefined) silence = setTimeout(() => void takeTurn(signal, { steal: true }), ms)
  }
  const receive = (envelope: Envelope): void => {
    if ('newcomer' in envelope) {
      const message = { events: soFar(), isReached: wasReached }
      if (turn !== null) send({ to: envelope.newcomer, message })
    } else if (turn === null) {
      expect(silenceMs)
      if (envelope.to === null || envelope.to === visit?.id) hear(envelope.message)
    }
  }
  const joinTurns = (): void => {
    if (visit !== null) return
    visit = { id: crypto.randomUUID(), leaving: new AbortController(), channel: new BroadcastChannel(name) }
    visit.channel.addEventListener('message', ({ data }: MessageEvent<Envelope>) => receive(data))
    send({ newcomer: visit.id })
    void waitForTurns(visit.leaving.signal)
    expect(answerMs)
  }
  const leaveTurns = (): void => {
    visit?.leaving.abort()
    endTurn()
    visit?.channel.close()
    visit = null
  }

  // Locks are for secure contexts: https, and this machine.
  const canShare = isSecureContext && 'locks' in navigator && 'BroadcastChannel' in globalThis
  const [join, leave] = canShare ? [joinTurns, leaveTurns] : [open, close]
  const mind = (): void => (document.hidden ? leave() : join())
  document.addEventListener('visibilitychange', mind)
  // A page that comes out of the browser's cache of pages has lost its connections.
  addEventListener('pageshow', mind)
  addEventListener('pagehide', leave)
  mind()
}
