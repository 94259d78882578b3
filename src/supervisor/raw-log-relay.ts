import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { RawLogStatus, RawLogSwitched } from '../api/raw-log.ts'
import type { Clock } from '../call/clock.ts'
import { fits } from '../lib/message-schema.ts'
import type { ControlClient, ControlRequest } from '../control/control-client.ts'
import { refusalIn } from '../control/control-messages.ts'
import { type FollowFeedOptions, followFeed } from '../control/follow-feed.ts'
import { type Shape, isObject, readMessage } from '../lib/message-shape.ts'
import { CodedError } from '../lib/errors.ts'

/** A status is asked for by a page that is being looked at. */
const statusLimitMs = 2000

/** The files of payloads by themselves, as they are while no gateway runs. */
export interface PayloadFiles {
  status(): RawLogStatus
  /** Rejects with the system's error. */
  clear(): Promise<void>
}

/** The gateway refused a request, for a reason and with a code of its own, whatever that is. */
export class GatewayRefusedError extends CodedError {}

/**
 * Why nothing can be answered about payloads.
 * - `not_running`: there is no gateway, and without one it cannot be done.
 * - `gateway_silent`: there is one that does not answer.
 */
export class RawLogError extends CodedError<'not_running' | 'gateway_silent'> {}

/** Hears the gateway's feed of payloads. */
export type FeedListener = Pick<FollowFeedOptions, 'onEvent' | 'onLost'>

export interface RawLogRelayOptions {
  readonly client: ControlClient
  readonly files: PayloadFiles
  readonly clock: Clock
  readonly onFault: (error: unknown) => void
}

/**
 * The log of payloads: asked of the gateway of a data folder, and if none runs, of its files. What it rejects with is
 * {@link RawLogError}, {@link GatewayRefusedError}, or a fault.
 */
export class RawLogRelay {
  readonly #options: RawLogRelayOptions

  constructor(options: RawLogRelayOptions) {
    this.#options = options
  }

  async status(): Promise<RawLogStatus> {
    return (await this.#askStatus()) ?? this.#options.files.status()
  }

  /** True if payloads are kept now (null if no gateway says so), and the path of the active file. Never rejects. */
  async known(): Promise<{ readonly logging: boolean | null; readonly filePath: string }> {
    const status = await this.#askStatus().catch(() => null)
    if (status === null) return { logging: null, filePath: this.#options.files.status().file_path }
    return { logging: status.enabled, filePath: status.file_path }
  }

  /** `order` is the body of the gateway's own route, and so is the answer. */
  async toggle(order: object): Promise<RawLogSwitched> {
    const answer = await this.#ask(
      'POST /raw-log/toggle',
      { body: JSON.stringify(order) },
      fits(RawLogSwitched),
    )
    if (answer !== null) return answer
    const message = 'No gateway runs whose payloads could be logged; start it, or start it with --raw-log.'
    throw new RawLogError('not_running', message)
  }

  async clear(): Promise<{ readonly success: true }> {
    const answer = await this.#ask('POST /raw-log/clear', {}, isObject)
    if (answer === null) await this.#options.files.clear()
    return { success: true }
  }

  /** The JSON of `RecentPayloads`; null if no gateway runs: the files then tell as much. */
  recent(limit: number): Promise<Readable | null> {
    return this.#open(`GET /raw-log/recent?limit=${limit}`, {})
  }

  /** The feed. */
  async stream(): Promise<Readable> {
    const answer = await this.#open('GET /raw-log/stream', {})
    if (answer !== null) return answer
    throw new RawLogError('not_running', 'No gateway runs whose payloads could be shown.')
  }

  /** Follows the feed on one connection, over restarts of the gateway, until the function that it answers is called. */
  follow(listener: FeedListener): () => void {
    const { clock, onFault } = this.#options
    const end = new AbortController()
    followFeed({
      clock,
      // If there is none, for whatever reason, the gateway's status tells which.
      open: () => this.#open('GET /raw-log/stream', {}).catch(() => null),
      ...listener,
      signal: end.signal,
    }).catch(onFault)
    return () => end.abort()
  }

  #askStatus(): Promise<RawLogStatus | null> {
    return this.#ask('GET /raw-log/status', { limitMs: statusLimitMs }, fits(RawLogStatus))
  }

  async #ask<T>(route: string, request: ControlRequest, shape: Shape<T>): Promise<T | null> {
    const answer = await this.#open(route, request)
    if (answer === null) return null
    const said = readMessage(await text(answer), shape)
    if (said === null) throw new RawLogError('gateway_silent', 'The gateway does not answer as it should.')
    return said
  }

  /** Null if no gateway runs. */
  async #open(route: string, request: ControlRequest): Promise<IncomingMessage | null> {
    const answer = await this.#options.client.rawLog(route, request)
    if (answer === 'notRunning') return null
    if (answer === 'noReply') throw new RawLogError('gateway_silent', 'The gateway does not answer.')
    const { statusCode: status = 0, headers } = answer
    if (status === 200) return answer
    // The gateway's own errors have the shape of OpenAI's, those of its control socket ours.
    const { code, message } = refusalIn(await text(answer))
    const retryAfter = headers['retry-after']
    const passedOn: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': retryAfter }
    throw new GatewayRefusedError(code, message, { status, headers: passedOn })
  }
}
