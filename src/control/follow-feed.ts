import { type Readable, addAbortSignal } from 'node:stream'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import type { Clock } from '../call/clock.ts'
import { backoffMs } from '../lib/backoff.ts'
import { lineReader } from '../lib/line-reader.ts'

/** Pauses before the next attempt to connect. */
const pause = { firstMs: 50, longestMs: 2000 } as const
/** A connection that lasted this long resets the pauses. */
const goodMs = 5000
/** The gateway sends something every 15 s. A feed that is silent for this time hangs. */
const silentMs = 60_000

/** How to follow a feed. */
export interface FollowFeedOptions {
  readonly clock: Clock
  /** Opens the feed; resolves with null if there is none now. A rejection ends the following. */
  readonly open: () => Promise<Readable | null>
  readonly onEvent: (event: EventSourceMessage) => void
  /** Called once each time the feed is lost. */
  readonly onLost: () => void
  /** Ends the following when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Follows the feed over restarts of the gateway until the signal is aborted. Events between two connections are lost.
 * Rejects only with what `open` and the callbacks throw.
 */
export async function followFeed(options: FollowFeedOptions): Promise<void> {
  const { clock, open, onEvent, onLost, signal } = options
  let attempts = 0
  let isLost = false
  while (!signal.aborted) {
    const openedAtMs = clock.now()
    const stream = await open()
    if (stream !== null) {
      await readEvents(stream, options, (event) => {
        isLost = false
        onEvent(event)
      })
    }
    if (clock.now() - openedAtMs >= goodMs) attempts = 0
    if (signal.aborted) return
    if (!isLost) onLost()
    isLost = true
    attempts += 1
    await clock.delay(backoffMs(pause, attempts), signal).catch(() => undefined)
  }
}

/** Resolves when the stream has ended for any reason; rejects with the error of `onEvent`. */
async function readEvents(
  stream: Readable,
  { clock, signal }: FollowFeedOptions,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  const parser = createParser({ onEvent })
  // An event with a line that is too long is left out.
  const read = lineReader((line) => parser.feed(`${line}\n`))
  let isHeard = true
  let cancel = (): void => {}
  const checkHeard = (): void => {
    if (!isHeard) stream.destroy()
    isHeard = false
    cancel = clock.after(silentMs, checkHeard, { background: true })
  }
  checkHeard()
  addAbortSignal(signal, stream)
    .setEncoding('utf8')
    .on('data', (text: string) => {
      isHeard = true
      try {
        read(text)
      } catch (error) {
        reject(error)
        stream.destroy()
      }
    })
    // `close` follows each error.
    .on('error', () => {})
    .once('close', resolve)
  await ended.finally(() => cancel())
}
