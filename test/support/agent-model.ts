import { asRecord, type JsonRecord } from './json-record.ts'
import { type ReplyStep, write } from './reply-step.ts'
import { chunkFrame, jsonReply, lastChunk, responseHead, sseEvent } from './response-bytes.ts'
import type { SeenRequest } from './seen-request.ts'

/** What the agent's shell is told to run, and what only a shell that ran it leaves in its folder. */
export const agentTask = { command: 'echo $((6*7)) > weir.txt', file: 'weir.txt', content: '42\n' } as const

/** The last words of the model, once it was told that the command has ended. */
export const lastWords = 'The weir holds.'

const usage = { input: 21, output: 9 } as const

/** What the model does in one turn: a call of one of the tools it was offered, or text. */
type Turn = { readonly tool: string; readonly args: JsonRecord } | { readonly text: string }

/** Writes one turn in the form of an API: as one body, or as the events of a stream. */
interface Form {
  readonly body: (turn: Turn, model: string) => JsonRecord
  readonly events: (turn: Turn, model: string) => readonly (JsonRecord | '[DONE]')[]
}

/**
 * A model for coding agents: it calls the shell that it is offered once, and when that call's result comes back it is
 * done. It speaks Chat Completions, Responses and Messages; what offers no shell gets text.
 */
export function* answerAgent(request: SeenRequest): Generator<ReplyStep> {
  const path = request.target.split('?')[0] ?? ''
  const form = forms[path]
  if (request.method === 'GET' && path === '/v1/models') {
    yield* jsonReply(200, { object: 'list', data: [{ id: 'weir-1', object: 'model' }] })
  } else if (request.method !== 'POST' || form === undefined) {
    yield* jsonReply(404, { error: { message: `no route ${request.method} ${path}`, type: 'not_found' } })
  } else {
    const body = request.json()
    const model = String(body['model'])
    const turn = nextTurn(body)
    if (body['stream'] === true) yield* stream(form.events(turn, model))
    else yield* jsonReply(200, form.body(turn, model))
  }
}

function* stream(events: readonly (JsonRecord | '[DONE]')[]): Generator<ReplyStep> {
  const type = ['Content-Type', 'text/event-stream'] as const
  yield write(responseHead(200, [type, ['Transfer-Encoding', 'chunked']]))
  for (const event of events) {
    const name = event === '[DONE]' || typeof event['type'] !== 'string' ? '' : `event: ${event['type']}\n`
    yield write(chunkFrame(name + sseEvent(event)))
  }
  yield write(lastChunk())
}

function nextTurn(body: JsonRecord): Turn {
  const talk = JSON.stringify(body['messages'] ?? body['input'] ?? [])
  if (/"(?:role":"tool|type":"function_call_output|type":"tool_result)"/.test(talk))
    return { text: lastWords }
  const tools = (Array.isArray(body['tools']) ? body['tools'] : []).map(asToolOffer)
  const shell = tools.find(({ name }) => /^(?:bash|shell|exec_command|run_shell_command)$/i.test(name))
  return shell === undefined ? { text: 'Weir' } : { tool: shell.name, args: argumentsFor(shell.schema) }
}

function asToolOffer(tool: unknown): { readonly name: string; readonly schema: JsonRecord } {
  const offer = asRecord(tool)
  const inner = 'function' in offer ? asRecord(offer['function']) : offer
  return { name: String(inner['name']), schema: asRecord(inner['parameters'] ?? inner['input_schema']) }
}

/** The command where the schema has a place for it, and for all else that is required any value of its type. */
function argumentsFor(schema: JsonRecord): JsonRecord {
  const properties = asRecord(schema['properties'])
  const required = Array.isArray(schema['required']) ? schema['required'].map(String) : []
  const entries = Object.entries(properties)
    .filter(([name]) => required.includes(name) || /^(?:cmd|command)$/.test(name))
    .map(([name, property]) => {
      const type = asRecord(property)['type']
      if (/^(?:cmd|command)$/.test(name)) {
        return [name, type === 'array' ? ['bash', '-c', agentTask.command] : agentTask.command] as const
      }
      return [name, type === 'boolean' ? false : type === 'number' ? 10_000 : 'Print a word'] as const
    })
  return Object.fromEntries(entries)
}

const chatUsage = {
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
}

const chat: Form = {
  body: (turn, model) => {
    const finish_reason = 'tool' in turn ? 'tool_calls' : 'stop'
    const choice = { index: 0, message: { role: 'assistant', ...chatMessage(turn) }, finish_reason }
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [choice],
      usage: chatUsage,
    }
  },
  events: (turn, model) => {
    const common = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model }
    const choice = (delta: JsonRecord, finish_reason: string | null): JsonRecord => ({
      ...common,
      choices: [{ index: 0, delta, finish_reason }],
    })
    return [
      choice({ role: 'assistant', content: null }, null),
      choice(chatMessage(turn), null),
      choice({}, 'tool' in turn ? 'tool_calls' : 'stop'),
      { ...common, choices: [], usage: chatUsage },
      '[DONE]',
    ]
  },
}

function chatMessage(turn: Turn): JsonRecord {
  if ('text' in turn) return { content: turn.text }
  const called = { name: turn.tool, arguments: JSON.stringify(turn.args) }
  return { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: called }] }
}

const responses: Form = {
  body: (turn, model) => response(turn, model, 'completed'),
  events: (turn, model) => {
    const item = responseItem(turn, 'completed')
    const place = { item_id: item['id'], output_index: 0 }
    const text = 'text' in turn ? turn.text : JSON.stringify(turn.args)
    const part = { type: 'output_text', text: '', annotations: [] }
    const content = { ...place, content_index: 0 }
    const said = [
      { type: 'response.content_part.added', ...content, part },
      { type: 'response.output_text.delta', ...content, delta: text, logprobs: [] },
      { type: 'response.output_text.done', ...content, text, logprobs: [] },
      { type: 'response.content_part.done', ...content, part: { ...part, text } },
    ]
    const called = [
      { type: 'response.function_call_arguments.delta', ...place, delta: text },
      { type: 'response.function_call_arguments.done', ...place, arguments: text },
    ]
    const begun = responseItem('text' in turn ? { text: '' } : { ...turn, args: {} }, 'in_progress')
    const added = 'text' in turn ? { ...begun, content: [] } : { ...begun, arguments: '' }
    return [
      { type: 'response.created', response: { ...response(turn, model, 'in_progress'), output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: added },
      ...('text' in turn ? said : called),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: response(turn, model, 'completed') },
    ].map((event, sequence_number) => Object.assign(event, { sequence_number }))
  },
}

function response(turn: Turn, model: string, status: string): JsonRecord {
  const { input, output } = usage
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model,
    status,
    output: [responseItem(turn, 'completed')],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  }
}

function responseItem(turn: Turn, status: string): JsonRecord {
  if ('tool' in turn) {
    const called = { call_id: 'call_1', name: turn.tool, arguments: JSON.stringify(turn.args) }
    return { type: 'function_call', id: 'fc_1', status, ...called }
  }
  const content = [{ type: 'output_text', text: turn.text, annotations: [] }]
  return { type: 'message', id: 'msg_1', role: 'assistant', status, content }
}

const messages: Form = {
  body: (turn, model) => ({
    ...messageHead(model),
    content: [messageBlock(turn)],
    stop_reason: stopReason(turn),
    usage: { input_tokens: usage.input, output_tokens: usage.output },
  }),
  events: (turn, model) => {
    const start = 'text' in turn ? { type: 'text', text: '' } : { ...messageBlock(turn), input: {} }
    const delta =
      'text' in turn
        ? { type: 'text_delta', text: turn.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(turn.args) }
    const begun = { ...messageHead(model), usage: { input_tokens: usage.input, output_tokens: 1 } }
    return [
      { type: 'message_start', message: begun },
      { type: 'content_block_start', index: 0, content_block: start },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: stopReason(turn), stop_sequence: null },
        usage: { output_tokens: usage.output },
      },
      { type: 'message_stop' },
    ]
  },
}

function messageHead(model: string): JsonRecord {
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model }
  return { ...head, content: [], stop_reason: null, stop_sequence: null }
}

function messageBlock(turn: Turn): JsonRecord {
  return 'text' in turn
    ? { type: 'text', text: turn.text }
    : { type: 'tool_use', id: 'toolu_1', name: turn.tool, input: turn.args }
}

function stopReason(turn: Turn): string {
  return 'text' in turn ? 'end_turn' : 'tool_use'
}

const forms: Readonly<Record<string, Form>> = {
  '/v1/chat/completions': chat,
  '/v1/responses': responses,
  '/v1/messages': messages,
}
