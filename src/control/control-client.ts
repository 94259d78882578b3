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
 * Why there is no answer.
 * - `notRunning`: there is no socket, or nobody listens on it any more.
 * - `noReply`: somebody holds the socket and says nothing in time.
 */
export type NoAnswer = 'notRunning' | 'noReply'

/** The longest time of a timer: who has it waits until the other process ends. */
const noLimitMs = 2 ** 31 - 1

/** Goes with a question. */
export interface ControlRequest {
  /** JSON; none if it is empty. */
  readonly body?: string
  /** For the whole answer, or if payloads are asked for, to its beginning. */
  readonly limitMs?: number
}

/** A gateway that has begun to stop. */
export interface Stopping {
  /** Resolves when its process has ended: the kernel then breaks the connection. Never rejects. */
  readonly ended: Promise<void>
}

/** Speaks to the gateway of a data folder, whoever started it. */
export class ControlClient {
  readonly #folder: string

  constructor(dataFolder: string) {
    this.#folder = controlFolder(dataFolder)
  }

  /** Rejects in words if somebody else than a gateway answers, or the socket may not be opened. */
  status(limitMs = 2000): Promise<ControlStatus | NoAnswer> {
    return this.#ask('GET /status', { limitMs }, readStatus)
  }

  /** The same for who only wants to know how it is: null if none says so. Never rejects. */
  async running(limitMs?: number): Promise<ControlStatus | null> {
    const status = await this.status(limitMs).catch(() => null)
    return typeof status === 'string' ? null : status
  }

  /** The calls that are not over yet. Rejects as `status` does, also if its version does not tell them. */
  live(limitMs = 2000): Promise<LiveCalls | NoAnswer> {
    return this.#ask('GET /live', { limitMs }, readLive)
  }

  /** Has it end a call; resolves with whether one of this id was under way. Rejects as `status` does. */
  cancel(id: string, limitMs = 2000): Promise<{ readonly cancelled: boolean } | NoAnswer> {
    return this.#ask(`POST /calls/${id}/cancel`, { limitMs }, readCancel)
  }

  /** Asks it to stop; resolves once it has begun to. Rejects as `status` does. */
  stop(limitMs = 5000): Promise<Stopping | NoAnswer> {
    return this.#ask('POST /stop', { limitMs }, readStopping)
  }

  /** Changes a running gateway; resolves with what it goes by then. Rejects in words. */
  async setOptions(options: LiveOptions): Promise<ControlStatus> {
    const status = await this.#ask('POST /options', { body: JSON.stringify(options) }, readStatus)
    if (status === 'notRunning') throw new Error('no gateway runs that could be changed')
    if (status === 'noReply') throw new Error('the gateway does not answer')
    return status
  }

  /** Has it read again what people wrote of clients and upstreams; it does so by itself, too. Rejects as `status` does. */
  reloadFiles(limitMs = 2000): Promise<ControlStatus | NoAnswer> {
    return this.#ask('POST /files', { limitMs }, readStatus)
  }

  /** Asks it to put a successor in its place. Rejects as `status` does. */
  handOver(order: HandOverOrder, limitMs: number): Promise<HandOverAnswer | NoAnswer> {
    return this.#ask('POST /hand-over', { body: JSON.stringify(order), limitMs }, readHandOver)
  }

  /** Reports to the successor, which may take its time. Rejects if the report was not taken. */
  reportDraining(report: DrainReport): Promise<DrainAnswer | NoAnswer> {
    return this.#ask('POST /draining', { body: JSON.stringify(report), limitMs: noLimitMs }, readDrainAnswer)
  }

  /**
   * Asks what stands under `/raw-log/` on the socket; `route` is `GET /raw-log/recent?limit=50`. Resolves when the
   * answer has begun, with whatever status; the caller reads it or destroys it. Rejects as `status` does.
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
      // EAGAIN: it accepts nobody, and too many wait for it to do so.
      if (limit.signal.aborted || code === 'EAGAIN') return 'noReply'
      if (absentCodes.has(code)) return 'notRunning'
      const why = reasonOf(error)
      throw new Error(`the control socket in ${this.#folder} cannot be used: ${why}`, { cause: error })
    } finally {
      stopCounting()
    }
  }
}

/** A timer that is later than this (ms) has met a process that stood still: suspended, or on a machine that is too busy. */
const standstillMs = 50

/** Calls back after so long; once more so long later if this process stood still, as what came meanwhile is yet to be read. */
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

/** Reads an answer of this shape; rejects in its own words if it is a refusal, and in ours if it is another. */
function answerOf<T>(shape: Shape<T>, otherwise: string): (response: IncomingMessage) => Promise<T> {
  return async (response) => {
    const body = await text(response)
    if (response.statusCode !== 200) throw new Error(refusalIn(body).message)
    const answer = readMessage(body, shape)
    if (answer === null) throw new Error(otherwise)
    return answer
  }
}

const readLive = answerOf(isLiveCalls, 'it does not tell its calls')
const readCancel = answerOf(isCancelAnswer, 'it does not say what became of the call')
const readStatus = answerOf(isControlStatus, 'what answers is no gateway')
const readDrainAnswer = answerOf(isDrainAnswer, 'it does not say what it makes of the report')
const readHandOver = answerOf(isHandOverAnswer, 'it does not say how the hand-over went')

async function readStopping(response: IncomingMessage): Promise<Stopping> {
  if (response.statusCode !== 200) throw new Error(refusalIn(await text(response)).message)
  // It breaks in the middle of the answer, as it should.
  response.on('error', () => {})
  const ended = new Promise<void>((resolve) => void response.once('close', resolve))
  await Promise.race([new Promise((begin) => void response.once('data', begin)), ended])
  return { ended }
}

/** Codes that say that nobody listens; the last two: any more, as it ended while it was asked. */
const absentCodes: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
])
