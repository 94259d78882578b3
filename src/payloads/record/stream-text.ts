import type { PayloadToolCall } from '../../api/raw-log.ts'
import { type Fields, fields, isObject, list } from '../../lib/message-shape.ts'

/** The text, reasoning and tool calls of a stream, put together. */
export interface StreamText {
  readonly text: string | null
  readonly reasoning: string | null
  readonly toolCalls: readonly PayloadToolCall[]
  /** All reassembled texts, also those of further choices, which are not shown. */
  readonly all: readonly string[]
}

type OpenToolCall = { -readonly [K in keyof PayloadToolCall]: PayloadToolCall[K] }

/** The texts of one choice, or of an answer that has no choices. */
class ChoiceText {
  text: string | null = null
  reasoning: string | null = null
  readonly toolCalls = new Map<string | number, OpenToolCall>()
  #lastCall: string | number = 0

  /** Adds a piece of the text; ignores values of other types. */
  addText(piece: unknown): void {
    this.text = appended(this.text, piece)
  }

  addReasoning(piece: unknown): void {
    this.reasoning = appended(this.reasoning, piece)
  }

  /** Adds a piece of a tool call. A piece without a key belongs to the last call, unless it has a new id. */
  addCall(key: unknown, id: unknown, name: unknown, piece: unknown): void {
    if (typeof key === 'number' || isText(key)) this.#lastCall = key
    else if (isText(id) && this.toolCalls.get(this.#lastCall)?.id !== id) {
      this.#lastCall = `#${this.toolCalls.size}`
    }
    let call = this.toolCalls.get(this.#lastCall)
    if (call === undefined) {
      call = { id: null, name: null, arguments: '' }
      this.toolCalls.set(this.#lastCall, call)
    }
    if (isText(id)) call.id ??= id
    // Some upstreams repeat the name with each piece.
    if (isText(name)) call.name ??= name
    if (typeof piece === 'string') call.arguments += piece
    else if (typeof piece === 'object' && piece !== null) call.arguments ||= JSON.stringify(piece)
  }

  /** Sets the whole arguments of a tool call, if no pieces came before. */
  callDone(key: unknown, args: unknown): void {
    const call = this.toolCalls.get(key as string | number)
    if (call !== undefined && typeof args === 'string') call.arguments ||= args
  }

  /** All texts of the choice. */
  all(): string[] {
    const calls = [...this.toolCalls.values()].flatMap((call) => [call.id, call.name, call.arguments])
    return [this.text, this.reasoning, ...calls].map((text) => text ?? '')
  }
}

/**
 * Puts the text of a stream together from its events. Known forms are chat and legacy completions, the Responses
 * and the Messages API, and those of Gemini, Ollama and llama.cpp. If there are several choices, `text`,
 * `reasoning` and `toolCalls` are those of the first (by index). Unknown forms are skipped. Never throws.
 */
export function readStreamText(events: readonly Fields[]): StreamText {
  const choices = new Map<number, ChoiceText>()
  const choiceAt = (index: unknown): ChoiceText => {
    const at = typeof index === 'number' ? index : 0
    const choice = choices.get(at) ?? new ChoiceText()
    choices.set(at, choice)
    return choice
  }
  for (const event of events) {
    if (Array.isArray(event['choices'])) {
      for (const choice of list(event['choices'])) readChoice(choiceAt(choice['index']), choice)
    } else readEvent(choiceAt(0), event)
  }
  const [first] = [...choices].sort(([a], [b]) => a - b)
  const shown = first?.[1] ?? new ChoiceText()
  return {
    text: shown.text,
    reasoning: shown.reasoning,
    toolCalls: [...shown.toolCalls.values()],
    all: [...choices.values()].flatMap((choice) => choice.all()),
  }
}

/** Reads a choice of chat completions, or of legacy completions, which have `text`. */
function readChoice(to: ChoiceText, choice: Fields): void {
  to.addText(choice['text'])
  if (isObject(choice['delta'])) readMessage(to, choice['delta'])
  // Some upstreams send the whole text in the last event.
  else if (to.text === null) readMessage(to, fields(choice['message']))
}

function readMessage(to: ChoiceText, message: Fields): void {
  const { content, function_call: single } = message
  to.addText(content)
  // Mistral's reasoning models send text and reasoning in parts.
  for (const { text, thinking } of list(content)) {
    to.addText(text)
    to.addReasoning(thinking)
    for (const thought of list(thinking)) to.addReasoning(thought['text'])
  }
  to.addText(message['refusal'])
  // vLLM and OpenRouter have renamed the field, and send both names.
  to.addReasoning(message['reasoning_content'] ?? message['reasoning'] ?? message['thinking'])
  to.addText(fields(message['audio'])['transcript'])
  if (isObject(single)) to.addCall('function_call', null, single['name'], single['arguments'])
  for (const call of list(message['tool_calls'])) {
    const called = fields(isObject(call['function']) ? call['function'] : call['custom'])
    to.addCall(call['index'], call['id'], called['name'], called['arguments'] ?? called['input'])
  }
}

function readEvent(to: ChoiceText, event: Fields): void {
  const { type } = event
  if (typeof type === 'string') {
    if (type.startsWith('response.')) readResponsesEvent(to, type, event)
    else if (type.startsWith('content_block')) readBlockEvent(to, event)
    return
  }
  for (const candidate of list(event['candidates'])) readCandidate(to, candidate)
  // Ollama's own chat and generate, llama.cpp's own completion
  readMessage(to, fields(event['message']))
  to.addText(event['response'])
  to.addText(event['content'])
  to.addReasoning(event['thinking'])
}

/** Reads a candidate of Gemini: parts with text, thoughts, or complete tool calls. */
function readCandidate(to: ChoiceText, candidate: Fields): void {
  for (const { text, thought, functionCall: call } of list(fields(candidate['content'])['parts'])) {
    if (thought === true) to.addReasoning(text)
    else to.addText(text)
    if (isObject(call)) to.addCall(`#${to.toolCalls.size}`, call['id'], call['name'], call['args'])
  }
}

/** Reads an event of Anthropic's Messages API: a block begins, and grows by deltas. */
function readBlockEvent(to: ChoiceText, event: Fields): void {
  const { index } = event
  const block = fields(event['content_block'])
  const delta = fields(event['delta'])
  for (const { text, thinking } of [block, delta]) {
    to.addText(text)
    to.addReasoning(thinking)
  }
  if (typeof block['name'] === 'string') to.addCall(index, block['id'], block['name'], '')
  if (typeof delta['partial_json'] === 'string') to.addCall(index, null, null, delta['partial_json'])
}

/** Reads an event of OpenAI's Responses API: an item is added, and grows by deltas. */
function readResponsesEvent(to: ChoiceText, type: string, event: Fields): void {
  const { delta, output_index: index } = event
  const item = fields(event['item'])
  const isCall = typeof item['type'] === 'string' && item['type'].endsWith('_call')
  const args = item['arguments'] ?? item['input']
  if (textDeltas.has(type)) to.addText(delta)
  else if (type.startsWith('response.reasoning') && type.endsWith('.delta')) to.addReasoning(delta)
  else if (type === 'response.reasoning_summary_part.added')
    to.addReasoning(to.reasoning === null ? '' : '\n\n')
  else if (callDeltas.has(type)) to.addCall(index, null, null, delta)
  else if (isCall && type === 'response.output_item.added') {
    to.addCall(index, item['call_id'] ?? item['id'], item['name'], args)
  } else if (isCall && type === 'response.output_item.done') to.callDone(index, args)
}

const textDeltas: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.audio_transcript.delta',
  'response.audio.transcript.delta',
])
const callDeltas: ReadonlySet<string> = new Set([
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
  'response.mcp_call_arguments.delta',
  'response.code_interpreter_call_code.delta',
])

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function appended(text: string | null, piece: unknown): string | null {
  return isText(piece) ? (text ?? '') + piece : text
}
