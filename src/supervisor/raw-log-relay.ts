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

/** Time for a status: a page waits for it. */
const statusLimitMs = 2000

/** The files of the raw log, while no gateway runs. */
export interface PayloadFiles {
  readonly filePath: string
  status(): Promise<RawLogStatus>
  /** Rejects with the system's error. */
  clear(): Promise<void>
}

/** The gateway refused a request, with its own code and message. */
export class GatewayRefusedError extends CodedError {}

/**
 * Why the raw log cannot be used.
 * - `not_running`: no gateway runs, and the request needs one.
 * - `gateway_silent`: the gateway does not answer.
 */
export class RawLogError extends CodedError<'not_running' | 'gateway_silent'> {}

/** Gets the gateway's feed of payloads. */
export type FeedListener = Pick<FollowFeedOptions, 'onEvent' | 'onLost'>

export interface RawLogRelayOptions {
  readonly client: ControlClient
  readonly files: PayloadFiles
  readonly clock: Clock
  readonly onFault: (error: unknown) => void
}

/**
 * The raw log: from the gateway of a data folder, or without one, from its files. Methods reject with {@link RawLogError},
 * {@link GatewayRefusedError}, or a fault.
 */
export class RawLogRelay {
  readonly #options: RawLogRelayOptions

  constructor(options: RawLogRelayOptions) {
    this.#options = options
  }

  async status(): Promise<RawLogStatus> {
    return (await this.#askStatus()) ?? this.#options.files.status()
  }

  /** True if the log is on (null without a gateway), and the path of its active file. Never rejects. */
  async readState(): Promise<{ readonly logging: boolean | null; readonly filePath: string }> {
    const status = await this.#askStatus().catch(() => null)
    if (status === null) return { logging: null, filePath: this.#options.files.filePath }
    return { logging: status.enabled, filePath: status.file_path }
  }

  /** Body and answer are those of the gateway's route. */
  async toggle(order: object): Promise<RawLogSwitched> {
    const answer = await this.#ask(
      'POST /raw-log/toggle',
      { body: JSON.stringify(order) },
      fits(RawLogSwitched),
    )
    if (answer !== null) return answer
    const message =
      'No gateway is running, so payloads cannot be logged: start one, or start it with --raw-log.'
    throw new RawLogError('not_running', message)
  }

  async clear(): Promise<{ readonly success: true }> {
    const answer = await this.#ask('POST /raw-log/clear', {}, isObject)
    if (answer === null) await this.#options.files.clear()
    return { success: true }
  }

  /** The JSON of `RecentPayloads`; null if no gateway runs: then read the files. */
  recent(limit: number): Promise<Readable | null> {
    return this.#open(`GET /raw-log/recent?limit=${limit}`, {})
  }

  /** Opens the live feed of payloads. */
  async stream(): Promise<Readable> {
    const answer = await this.#open('GET /raw-log/stream', {})
    if (answer !== null) return answer
    throw new RawLogError('not_running', 'No gateway is running, so there are no payloads to show.')
  }

  /** Follows the feed over restarts of the gateway, until the returned function is called. */
  follow(listener: FeedListener): () => void {
    const { clock, onFault } = this.#options
    const end = new AbortController()
    followFeed({
      clock,
      // The gateway's status shows why there is no feed.
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
    const message = readMessage(await text(answer), shape)
    if (message === null) throw new RawLogError('gateway_silent', 'The gateway does not answer as it should.')
    return message
  }

  /** Requests a route; null if no gateway runs. */
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
