import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RawLogStatus, RawLogSwitched } from '../../api/raw-log.ts'
import { readAtMost } from '../../lib/http/http.ts'
import { count } from '../../lib/number-format.ts'
import { Failure } from '../../call/failure.ts'
import { asFailure, sendJson, writeErrorAnswer } from '../http/own-answers.ts'
import type { RawLog } from '../../payloads/raw-log.ts'
import type { PayloadFeed } from './payload-feed.ts'
import { readToggle } from './toggle-body.ts'

const recentLimit = { least: 1, most: 1000, byDefault: 50 } as const

/** The routes with their methods. */
const methods = { status: 'GET', toggle: 'POST', recent: 'GET', clear: 'POST', stream: 'GET' } as const

/** The routes under `/v1/raw-log/`, and under `/raw-log/` on the control socket. The caller has checked the access. */
export class RawLogRoutes {
  readonly #log: RawLog
  readonly #toggle: RawLog['toggle']
  readonly #feed: PayloadFeed

  /** `toggle` switches the log here and at old gateways. */
  constructor(log: RawLog, toggle: RawLog['toggle'], feed: PayloadFeed) {
    this.#log = log
    this.#toggle = toggle
    this.#feed = feed
  }

  /** Answers a request whose path ends in `name`; `query` begins with its question mark. Never throws. */
  answer(name: string, query: string, req: IncomingMessage, res: ServerResponse): void {
    void this.#answer(name, new URLSearchParams(query), req, res).catch((error: unknown) => {
      if (res.headersSent || res.destroyed) res.destroy()
      else writeErrorAnswer(res, asFailure(error), null)
    })
  }

  async #answer(
    name: string,
    query: URLSearchParams,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    if (!isPart(name)) {
      const names = Object.keys(methods).join(', ')
      throw new Failure('not_found', `The raw log has no such part; known are ${names}.`)
    }
    const method = methods[name]
    if (req.method !== method) {
      throw new Failure('method_not_allowed', `${name} accepts only ${method}.`, {
        headers: ['Allow', method],
      })
    }
    switch (name) {
      case 'status':
        sendJson(res, this.#status())
        break
      case 'toggle':
        sendJson(res, this.#toggled(await readSmallBody(req)))
        break
      case 'recent': {
        const { least, most, byDefault } = recentLimit
        sendJson(res, await this.#log.recent(numberIn(query, 'limit', least, most) ?? byDefault))
        break
      }
      case 'clear':
        await readSmallBody(req)
        await this.#log.clear()
        sendJson(res, { success: true })
        break
      case 'stream':
        this.#feed.open(res)
    }
  }

  #status(): RawLogStatus {
    return { ...this.#log.status(), subscribers_count: this.#feed.readers }
  }

  #toggled(body: string): RawLogSwitched {
    const toggle = readToggle(body)
    this.#toggle(toggle.enabled, toggle.forMs)
    const { enabled, enabled_until, file_path, file_size_bytes } = this.#status()
    return { success: true, enabled, enabled_until, file_path, file_size_bytes }
  }
}

function isPart(name: string): name is keyof typeof methods {
  return Object.hasOwn(methods, name)
}

/** A whole number in the query; null if absent. Throws `invalid_request`. */
function numberIn(query: URLSearchParams, name: string, least: number, most: number): number | null {
  const texts = query.getAll(name)
  const [text] = texts
  if (text === undefined) return null
  const value = texts.length === 1 && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const gotText = texts.join(', ').slice(0, 100)
  const range = `a whole number from ${count(least)} to ${count(most)}`
  throw new Failure('invalid_request', `${name} must be ${range}; got ${gotText}`)
}

const maxBodyBytes = 64 * 1024

/**
 * Requires `Content-Type: application/json` on a body: without it, a page of another site could send the request without a
 * preflight. Throws `invalid_request`.
 */
function checkBodyType(req: IncomingMessage): void {
  const { 'content-length': length, 'transfer-encoding': coding, 'content-type': type = '' } = req.headers
  const hasBody = coding !== undefined || Number(length ?? 0) > 0
  if (!hasBody || /^application\/json\s*(?:;|$)/i.test(type)) return
  throw new Failure('invalid_request', 'A body must be JSON and say so: Content-Type: application/json.')
}

/** The body of a request; empty without one. Rejects with `invalid_request`, `body_too_large` or `client_gone`. */
async function readSmallBody(req: IncomingMessage): Promise<string> {
  checkBodyType(req)
  // An iterator that is left early must not destroy the connection, which has to carry the refusal.
  const body = await readAtMost(maxBodyBytes, req.iterator({ destroyOnReturn: false })).catch((cause) => {
    throw new Failure('client_gone', 'The client left while it sent its request.', { cause })
  })
  if (body !== null) return body
  throw new Failure('body_too_large', `The body is larger than ${maxBodyBytes / 1024} kB.`)
}
