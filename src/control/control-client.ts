import type { IncomingMessage, RequestOptions } from 'node:http'
import { text } from 'node:stream/consumers'
import type { LiveCalls } from '../api/live-calls.ts'
import { codeOf, reasonOf } from '../lib/errors.ts'
import { type Shape, readMessage } from '../lib/message-shape.ts'
import {
  type ControlStatus,
  type DrainAnswer,
  type DrainReport,
  type HandOverAnswer,
  type HandOverOrder,
  type LiveOptions,
  isCancelAnswer,
  isControlStatus,
  isDrainAnswer,
  isHandOverAnswer,
  isLiveCalls,
  refusalIn,
} from './control-messages.ts'
import { controlFolder } from './control-folder.ts'
import { openSocketAddress } from './control-socket.ts'
import { request } from '../lib/http/http.ts'

/**
 * Why a gateway does not answer.
 * - `notRunning`: there is no socket, or no process listens on it.
 * - `noReply`: a process holds the socket, but does not answer in time.
 */
export type NoAnswer = 'notRunning' | 'noReply'

/** The longest time of a timer (ms), used for no time limit. */
const noLimitMs = 2 ** 31 - 1

/** The options of a request. */
export interface ControlRequest {
  /** The body, as JSON; empty for none. */
  readonly body?: string
  /** Milliseconds for the whole answer; for payloads, until the answer begins. */
  readonly limitMs?: number
}

/** A gateway that is stopping. */
export interface Stopping {
  /** Resolves when the process has ended, because the kernel then breaks the connection. Never rejects. */
  readonly ended: Promise<void>
}

/** A client for the control socket of the gateway in a data folder. */
export class ControlClient {
  readonly #folder: string

  constructor(dataFolder: string) {
    this.#folder = controlFolder(dataFolder)
  }

  /** Rejects with a readable error if another program answers, or the socket may not be opened. */
  status(limitMs = 2000): Promise<ControlStatus | NoAnswer> {
    return this.#ask('GET /status', { limitMs }, readStatus)
  }

  /** The status; null if no gateway answers. Never rejects. */
  async running(limitMs?: number): Promise<ControlStatus | null> {
    const status = await this.status(limitMs).catch(() => null)
    return typeof status === 'string' ? null : status
  }

  /** The running calls. Rejects like `status`, and if the gateway's version cannot list them. */
  live(limitMs = 2000): Promise<LiveCalls | NoAnswer> {
    return this.#ask('GET /live', { limitMs }, readLive)
  }

  /** Cancels a call; resolves with whether a call with this id was running. Rejects like `status`. */
  cancel(id: string, limitMs = 2000): Promise<{ readonly cancelled: boolean } | NoAnswer> {
    return this.#ask(`POST /calls/${id}/cancel`, { limitMs }, readCancel)
  }

  /** Stops the gateway; resolves when it has begun to stop. Rejects like `status`. */
  stop(limitMs = 5000): Promise<Stopping | NoAnswer> {
    return this.#ask('POST /stop', { limitMs }, readStopping)
  }

  /** Changes options of the running gateway; resolves with the new status. Rejects with a readable error. */
  async setOptions(options: LiveOptions): Promise<ControlStatus> {
    const status = await this.#ask('POST /options', { body: JSON.stringify(options) }, readStatus)
    if (status === 'notRunning') throw new Error('no gateway is running')
    if (status === 'noReply') throw new Error('the gateway does not answer')
    return status
  }

  /** Makes the gateway read the files of clients and upstreams now, not at its next check. Rejects like `status`. */
  reloadFiles(limitMs = 2000): Promise<ControlStatus | NoAnswer> {
    return this.#ask('POST /files', { limitMs }, readStatus)
  }

  /** Makes the gateway start its successor. Rejects like `status`. */
  handOver(order: HandOverOrder, limitMs: number): Promise<HandOverAnswer | NoAnswer> {
    return this.#ask('POST /hand-over', { body: JSON.stringify(order), limitMs }, readHandOver)
  }

  /** Reports to the successor, without a time limit. Rejects if the report was refused. */
  reportDraining(report: DrainReport): Promise<DrainAnswer | NoAnswer> {
    return this.#ask('POST /draining', { body: JSON.stringify(report), limitMs: noLimitMs }, readDrainAnswer)
  }

  /**
   * Requests a route under `/raw-log/`, such as `GET /raw-log/recent?limit=50`. Resolves when the answer has begun, with any
   * status; the caller reads or destroys it. Rejects like `status`.
   */
  rawLog(route: string, request?: ControlRequest): Promise<IncomingMessage | NoAnswer> {
    return this.#ask(route, request, async (response) => response)
  }

  async #ask<T>(
    route: string,
    { body = '', limitMs = 5000 }: ControlRequest = {},
    read: (response: IncomingMessage) => Promise<T>,
  ): Promise<T | NoAnswer> {
    const headers = body === '' ? {} : { 'Content-Type': 'application/json' }
    const limit = new AbortController()
    const stopCounting = timeoutIgnoringStalls(limitMs, () => limit.abort())
    try {
      using address = openSocketAddress(this.#folder)
      const { req, response } = open(address.path, route, { headers, signal: limit.signal })
      req.end(body)
      return await read(await response)
    } catch (error) {
      const code = codeOf(error)
      // EAGAIN: the gateway accepts no connection, and its backlog is full.
      if (limit.signal.aborted || code === 'EAGAIN') return 'noReply'
      if (absentCodes.has(code)) return 'notRunning'
      const why = reasonOf(error)
      throw new Error(`the control socket in ${this.#folder} cannot be used: ${why}`, { cause: error })
    } finally {
      stopCounting()
    }
  }
}

/** A timer that fires later than this (ms) shows that this process was suspended or starved. */
const standstillMs = 50

/**
 * Calls back after `limitMs`. After a standstill of this process it waits once more, because data that came
 * meanwhile is unread. Returns a function that cancels.
 */
function timeoutIgnoringStalls(limitMs: number, callback: () => void): () => void {
  const dueMs = performance.now() + limitMs
  let timer = setTimeout(() => {
    if (performance.now() - dueMs > standstillMs) timer = setTimeout(callback, limitMs)
    else callback()
  }, limitMs)
  return () => clearTimeout(timer)
}

function open(socketPath: string, route: string, options: RequestOptions = {}) {
  const [method, path] = route.split(' ')
  const { promise: response, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const req = request({ socketPath, method, path, agent: false, ...options })
  req.once('response', resolve).on('error', reject)
  return { req, response }
}

/**
 * Returns a reader for answers of a shape. The reader rejects with the message of a refusal, or with `otherwise`
 * for any other answer.
 */
function answerOf<T>(shape: Shape<T>, otherwise: string): (response: IncomingMessage) => Promise<T> {
  return async (response) => {
    const body = await text(response)
    if (response.statusCode !== 200) throw new Error(refusalIn(body).message)
    const answer = readMessage(body, shape)
    if (answer === null) throw new Error(otherwise)
    return answer
  }
}

const readLive = answerOf(isLiveCalls, 'its list of calls is not valid')
const readCancel = answerOf(isCancelAnswer, 'its answer to the cancellation is not valid')
const readStatus = answerOf(isControlStatus, 'another program answers, not a gateway')
const readDrainAnswer = answerOf(isDrainAnswer, 'its answer to the report is not valid')
const readHandOver = answerOf(isHandOverAnswer, 'its answer to the hand-over is not valid')

async function readStopping(response: IncomingMessage): Promise<Stopping> {
  if (response.statusCode !== 200) throw new Error(refusalIn(await text(response)).message)
  // When the gateway's process ends, the connection breaks in the middle of the answer.
  response.on('error', () => {})
  const ended = new Promise<void>((resolve) => void response.once('close', resolve))
  await Promise.race([new Promise((begin) => void response.once('data', begin)), ended])
  return { ended }
}

/** Error codes of a socket without a listener. The last two also come from a process that ended during the request. */
const absentCodes: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
])
