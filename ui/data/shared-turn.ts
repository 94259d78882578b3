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

/** A tab's part in the turns. */
export interface SharedTurn {
  readonly join: () => void
  readonly leave: () => void
  /** Tells the others. */
  readonly post: (message: TabMessage) => void
}

/** Locks are for secure contexts: https, and this machine. */
export function canShareTurns(): boolean {
  return isSecureContext && 'locks' in navigator && 'BroadcastChannel' in globalThis
}

/**
 * Among the tabs of one browser that have joined, it is the turn of exactly one at a time: whoever holds a lock, which
 * the browser gives on when a tab leaves, is closed or crashes. One that holds it and says nothing loses it.
 */
export function shareTurns({ onTurn, onEnd, onMessage, onNewcomer }: TurnTaker): SharedTurn {
  const id = crypto.randomUUID()
  let visit: { readonly leaving: AbortController; readonly channel: BroadcastChannel } | null = null
  let silence: ReturnType<typeof setTimeout> | undefined
  let isOurs = false

  const send = (envelope: Envelope): void => visit?.channel.postMessage(envelope)
  const end = (): void => {
    clearTimeout(silence)
    if (!isOurs) return
    isOurs = false
    onEnd()
  }
  /** Has the turn from when the lock is given until the tab leaves, or the lock is taken away. */
  const take = async (signal: AbortSignal, options: LockOptions): Promise<void> => {
    try {
      await navigator.locks.request(name, options, async () => {
        if (signal.aborted) return
        clearTimeout(silence)
        isOurs = true
        onTurn()
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      })
    } catch {
      // It was taken away, or the tab has left.
      if (!signal.aborted) end()
    }
  }
  /** Whoever's turn it is has to be heard of within so long. */
  const expect = (ms: number): void => {
    clearTimeout(silence)
    const signal = visit?.leaving.signal
    if (signal !== undefined) silence = setTimeout(() => void take(signal, { steal: true }), ms)
  }
  const receive = (envelope: Envelope): void => {
    if ('newcomer' in envelope) {
      if (isOurs) send({ to: envelope.newcomer, message: onNewcomer() })
    } else if (!isOurs) {
      expect(silenceMs)
      if (envelope.to === null || envelope.to === id) onMessage(envelope.message)
    }
  }
  /** Waits for its turn, and after a turn that was taken away for the next. */
  const wait = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) await take(signal, { signal })
  }

  return {
    join: () => {
      if (visit !== null) return
      const leaving = new AbortController()
      const channel = new BroadcastChannel(name)
      channel.addEventListener('message', ({ data }: MessageEvent<Envelope>) => receive(data))
      visit = { leaving, channel }
      send({ newcomer: id })
      void wait(leaving.signal)
      expect(answerMs)
    },
    leave: () => {
      visit?.leaving.abort()
      end()
      visit?.channel.close()
      visit = null
    },
    post: (message) => send({ to: null, message }),
  }
}
