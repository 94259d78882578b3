import { setTimeout as delay } from 'node:timers/promises'
import { type ReplyScript, write } from '../support/reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, responseHead, sseEvent } from '../support/response-bytes.ts'
import type { SeenRequest } from '../support/seen-request.ts'

const usage = { prompt_tokens: 11, completion_tokens: 4, total_tokens: 15 }
const document = {
  id: 'c',
  object: 'chat.completion',
  model: 'sim',
  choices: [{ index: 0, message: { role: 'assistant', content: 'steady' }, finish_reason: 'stop' }],
  usage,
}
const events = ['st', 'ea', 'dy', ''].map((content, index) =>
  sseEvent({
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'sim',
    choices: [{ index: 0, delta: { content }, finish_reason: index === 3 ? 'stop' : null }],
  }),
)
const pieces = [...events, sseEvent({ id: 'c', choices: [], usage }), sseEvent('[DONE]')]

/** What clients must get, byte by byte. */
const wanted = { stream: pieces.join(''), json: JSON.stringify(document) } as const

/** The upstream's part: always the same bytes. */
export function steadyReply(request: SeenRequest): ReplyScript {
  if (!request.target.includes('stream')) return jsonReply(200, document)
  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  return [write(head), ...pieces.map((piece) => write(chunkFrame(piece))), write(lastChunk())]
}

/** One call as its client saw it. */
export interface SteadyCall {
  readonly atMs: number
  readonly tookMs: number
  /** `null` where every byte was as the upstream sent it. */
  readonly fault: string | null
}

/** Clients that call a gateway at a steady rate, streams and JSON in turn, and compare every byte. */
export class SteadyLoad {
  readonly calls: SteadyCall[] = []
  readonly #origin: string
  readonly #perSecond: number
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<void>>()
  readonly #pacer: Promise<void>

  constructor(origin: string, perSecond: number) {
    this.#origin = origin
    this.#perSecond = perSecond
    this.#pacer = this.#pace()
  }

  /** Those that began in a span of `performance.now()`. */
  between(fromMs: number, toMs: number): readonly SteadyCall[] {
    return this.calls.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
  }

  /** No new calls; waits for the last. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#pacer
    await Promise.all(this.#running)
  }

  async #pace(): Promise<void> {
    const startedMs = performance.now()
    for (let count = 0; !this.#stop.signal.aborted; count++) {
      const call = this.#call(count % 2 === 0)
      this.#running.add(call)
      void call.finally(() => this.#running.delete(call))
      const dueMs = startedMs + ((count + 1) * 1000) / this.#perSecond
      await delay(Math.max(0, dueMs - performance.now()))
    }
  }

  async #call(stream: boolean): Promise<void> {
    const atMs = performance.now()
    const fault = await this.#faultOf(stream).catch(String)
    this.calls.push({ atMs, tookMs: performance.now() - atMs, fault })
  }

  async #faultOf(stream: boolean): Promise<string | null> {
    const response = await fetch(`${this.#origin}/v1/chat/completions?${stream ? 'stream' : 'json'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', stream, stream_options: { include_usage: stream }, messages: [] }),
    })
    const text = await response.text()
    if (response.status !== 200) return `status ${response.status}: ${text}`
    return text === (stream ? wanted.stream : wanted.json) ? null : `another body: ${text}`
  }
}
