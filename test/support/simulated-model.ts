import { asRecord } from './json-record.ts'
import { type ReplyStep, wait, write } from './reply-step.ts'
import {
  type HeaderLines,
  chunkFrame,
  jsonReply,
  lastChunk,
  responseHead,
  sseEvent,
} from './response-bytes.ts'
import type { SeenRequest } from './seen-request.ts'

/** The model that a simulated upstream pretends to run. */
export interface SimulatedModel {
  readonly name: string
  /** The answer's text; each piece is one content chunk of a stream and counts as one output token. */
  readonly content: readonly string[]
  readonly promptTokens: number
  /** Before the first byte of any answer. */
  readonly firstByteMs: number
  /** Between the content chunks of a stream. */
  readonly gapMs: number
}

/** Answers at once, so that a test waits only for what it asks for. */
export const defaultModel: SimulatedModel = {
  name: 'sim-small',
  content: ['The ', 'weir ', 'holds ', 'the ', 'water ', 'back', '.'],
  promptTokens: 11,
  firstByteMs: 0,
  gapMs: 0,
}

const createdS = 1_700_000_000
const sseHeaders: HeaderLines = [
  ['Content-Type', 'text/event-stream'],
  ['Cache-Control', 'no-cache'],
]

/** What an OpenAI-compatible server answers to a request; unknown paths get its 404. */
export function answerAsOpenAi(model: SimulatedModel, request: SeenRequest): ReplyStep[] {
  const steps = route(model, request)
  return model.firstByteMs > 0 ? [wait(model.firstByteMs), ...steps] : steps
}

function route(model: SimulatedModel, request: SeenRequest): ReplyStep[] {
  const path = request.target.split('?')[0]!
  if (request.method === 'GET') {
    if (path === '/v1/models') return json({ object: 'list', data: [modelCard(model.name)] }, request)
    if (path.startsWith('/v1/models/')) return json(modelCard(decodeURIComponent(path.slice(11))), request)
    if (path === '/props' || path === '/v1/props') return json(props(model), request)
  }
  if (request.method === 'POST') {
    if (path === '/v1/chat/completions' || path === '/v1/completions') {
      const completion = new Completion(model, request, path === '/v1/completions')
      return request.json()['stream'] === true ? completion.stream() : json(completion.whole(), request)
    }
    if (path === '/v1/embeddings') return json(embeddings(model, request), request)
    if (/^(?:\/v1)?\/rerank(?:ing)?$/.test(path)) return json(rerank(model, request), request)
  }
  const error = {
    message: `no route ${request.method} ${path}`,
    type: 'invalid_request_error',
    param: null,
    code: null,
  }
  return jsonReply(404, { error })
}

function json(value: unknown, request: SeenRequest): ReplyStep[] {
  return jsonReply(200, value, requestId(request))
}

function requestId(request: SeenRequest): HeaderLines {
  return [['X-Request-Id', `req-${request.index}`]]
}

/** Chat and legacy text completions, which differ only in where the text stands. */
class Completion {
  readonly #model: SimulatedModel
  readonly #request: SeenRequest
  readonly #legacy: boolean
  readonly #common: Readonly<Record<string, unknown>>

  constructor(model: SimulatedModel, request: SeenRequest, legacy: boolean) {
    const asked = request.json()['model']
    this.#model = model
    this.#request = request
    this.#legacy = legacy
    this.#common = {
      id: `${legacy ? 'cmpl' : 'chatcmpl'}-${request.index}`,
      created: createdS,
      model: typeof asked === 'string' ? asked : model.name,
    }
  }

  whole(): unknown {
    const text = this.#model.content.join('')
    const choice = this.#legacy
      ? { index: 0, text, finish_reason: 'stop', logprobs: null }
      : {
          index: 0,
          message: { role: 'assistant', content: text, refusal: null },
          finish_reason: 'stop',
          logprobs: null,
        }
    const object = this.#legacy ? 'text_completion' : 'chat.completion'
    return { ...this.#common, object, choices: [choice], usage: this.#usage() }
  }

  /** Head, role chunk, content chunks, finish chunk, the usage chunk if asked for, `[DONE]`: a write each. */
  stream(): ReplyStep[] {
    const options = asRecord(this.#request.json()['stream_options'])
    const withUsage = options['include_usage'] === true
    const object = this.#legacy ? 'text_completion' : 'chat.completion.chunk'
    const event = (choices: readonly unknown[], usage: unknown): ReplyStep => {
      const extra = withUsage ? { usage } : {}
      return write(chunkFrame(sseEvent({ ...this.#common, object, choices, ...extra })))
    }
    const head = responseHead(200, [
      ...sseHeaders,
      ...requestId(this.#request),
      ['Transfer-Encoding', 'chunked'],
    ])
    const steps = [write(head)]
    if (!this.#legacy) steps.push(event([this.#choice({ role: 'assistant', content: '' }, null)], null))
    for (const [i, piece] of this.#model.content.entries()) {
      if (i > 0 && this.#model.gapMs > 0) steps.push(wait(this.#model.gapMs))
      steps.push(event([this.#choice({ content: piece }, null)], null))
    }
    steps.push(event([this.#choice({}, 'stop')], null))
    if (withUsage) steps.push(event([], this.#usage()))
    steps.push(write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()])))
    return steps
  }

  #choice(
    delta: { readonly role?: string; readonly content?: string },
    finish_reason: string | null,
  ): unknown {
    return this.#legacy
      ? { index: 0, text: delta.content ?? '', finish_reason, logprobs: null }
      : { index: 0, delta, finish_reason, logprobs: null }
  }

  #usage(): unknown {
    const prompt_tokens = this.#model.promptTokens
    const completion_tokens = this.#model.content.length
    return {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    }
  }
}

function modelCard(id: string): unknown {
  return { id, object: 'model', created: createdS, owned_by: 'simulated' }
}

function props(model: SimulatedModel): unknown {
  return {
    default_generation_settings: { n_ctx: 4096 },
    total_slots: 4,
    model_path: model.name,
    chat_template: '',
  }
}

/** Base64 vectors when asked for, as the official client asks unless told otherwise. */
function embeddings(model: SimulatedModel, request: SeenRequest): unknown {
  const body = request.json()
  const count = Array.isArray(body['input']) ? body['input'].length : 1
  const vector = [0.25, -0.5, 0.75]
  const embedding =
    body['encoding_format'] === 'base64'
      ? Buffer.from(new Float32Array(vector).buffer).toString('base64')
      : vector
  return {
    object: 'list',
    data: Array.from({ length: count }, (_, index) => ({ object: 'embedding', index, embedding })),
    model: model.name,
    usage: { prompt_tokens: model.promptTokens, total_tokens: model.promptTokens },
  }
}

function rerank(model: SimulatedModel, request: SeenRequest): unknown {
  const documents = request.json()['documents']
  const count = Array.isArray(documents) ? documents.length : 0
  return {
    model: model.name,
    object: 'list',
    results: Array.from({ length: count }, (_, index) => ({ index, relevance_score: 1 / (index + 1) })),
    usage: { prompt_tokens: model.promptTokens, total_tokens: model.promptTokens },
  }
}
