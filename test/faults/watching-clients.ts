import { spawn } from 'node:child_process'
import { once } from 'node:events'
import OpenAI from 'openai'
import { requestBytes } from '../support/exchange.ts'
import { openRawClient } from '../support/raw-client.ts'

/** What a client made of an answer. */
export interface WitnessedEnd {
  /** `clean` where it took the answer for finished, `broken` where it saw that it was not. */
  readonly end: 'clean' | 'broken'
  /** In the client's own words. */
  readonly detail: string
  /** The body as far as it was handed out; `null` where the client does not show it. */
  readonly body: string | null
  /** Events handed out; `null` where the client does not count them. */
  readonly events: number | null
}

/** A call to be made at a gateway. */
export interface WatchedCall {
  readonly port: number
  readonly streamed: boolean
  /** The query tells the upstream which script to play. */
  readonly query: Readonly<Record<string, string>>
  /** Marks the call's row. */
  readonly session: string
}

export type WatchingClient = (call: WatchedCall) => Promise<WitnessedEnd>

const limitMs = 30_000

/** The official library. */
const openai: WatchingClient = async ({ port, streamed, query, session }) => {
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none', maxRetries: 0 })
  const request = { model: 'sim', messages: [{ role: 'user' as const, content: 'hi' }] }
  const options = { query, headers: { 'x-tokenweir-session': session } }
  let events = 0
  try {
    if (streamed) {
      const stream = await client.chat.completions.create({ ...request, stream: true }, options)
      for await (const _ of stream) events++
    } else {
      await client.chat.completions.create(request, options)
    }
    return { end: 'clean', detail: `no error after ${events} events`, body: null, events }
  } catch (error) {
    return { end: 'broken', detail: String(error), body: null, events: streamed ? events : null }
  }
}

/** Bytes on a socket, judged by the framing alone. */
function raw(httpVersion: '1.0' | '1.1'): WatchingClient {
  return async (call) => {
    await using client = await openRawClient(call.port)
    const target = `/v1/chat/completions?${new URLSearchParams(call.query).toString()}`
    const headers = [
      ['Content-Type', 'application/json'],
      ['x-tokenweir-session', call.session],
    ] as const
    await client.send(requestBytes('POST', target, { headers, body: bodyOf(call), httpVersion }))
    const response = await client.response('POST', limitMs)
    // A close is the ordinary end of an HTTP/1.0 answer without a length; only a reset tells.
    const untilClose = response.framing === 'until-close'
    const isClean = response.complete || (untilClose && client.serverEnd === 'fin')
    return {
      end: isClean ? 'clean' : 'broken',
      detail: `${response.framing}, ${client.serverEnd ?? 'open'}`,
      body: response.body.toString(),
      events: null,
    }
  }
}

function curl(...args: readonly string[]): WatchingClient {
  return async (call) => {
    const url = `http://127.0.0.1:${call.port}/v1/chat/completions?${new URLSearchParams(call.query).toString()}`
    const headers = ['-H', 'Content-Type: application/json', '-H', `x-tokenweir-session: ${call.session}`]
    const bounds = ['-sS', '-N', '--noproxy', '*', '--max-time', String(limitMs / 1000)]
    const child = spawn('curl', [...bounds, ...args, ...headers, '--data-binary', bodyOf(call), url])
    let body = ''
    let words = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words += text
    })
    const [code] = (await once(child, 'close')) as [number | null]
    return { end: code === 0 ? 'clean' : 'broken', detail: `${code} ${words.trim()}`, body, events: null }
  }
}

/** A chat call's body. */
function bodyOf(call: WatchedCall): string {
  return JSON.stringify({ model: 'sim', stream: call.streamed, messages: [{ role: 'user', content: 'hi' }] })
}

export type WatchingClientName = 'openai' | 'raw' | 'raw-1.0' | 'curl' | 'curl-1.0'

/** The clients before which an unfinished answer must not look finished. */
export const watchingClients: Readonly<Record<WatchingClientName, WatchingClient>> = {
  openai,
  raw: raw('1.1'),
  'raw-1.0': raw('1.0'),
  curl: curl('--http1.1'),
  'curl-1.0': curl('--http1.0'),
}
