import type { PayloadToolCall } from '../../api/raw-log.ts'

/** What the pieces of a stream come to. */
export interface StreamText {
  readonly text: string | null
  readonly reasoning: string | null
  readonly toolCalls: readonly PayloadToolCall[]
  /** All texts that were put together, those that are not shown (of further choices) among them. */
  readonly all: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

interface OpenToolCall {
  id: string | null
  name: string | null
  arguments: string
}

/** The texts of one choice, or of an answer that has no choices. */
class ChoiceText {
  text: string | null = null
  reasoning: string | null = null
  readonly toolCalls = new Map<string | number, OpenToolCall>()
  #lastCall: string | number = 0

  say(piece: unknown): void {
    if (typeof piece === 'string' && piece !== '') this.text = (this.text ?? '') + piece
  }

  reason(piece: unknown): void {
    if (typeof piece === 'string' && piece !== '') this.reasoning = (this.reasoning ?? '') + piece
  }

  /** A piece of a tool call. One without a key belongs to the last one, unless it brings an id of its own. */
  call(key: unknown, id: unknown, name: unknown, piece: unknown): void {
    const isKey = typeof key === 'number' || (typeof key === 'string' && key !== '')
    if (isKey) this.#lastCall = key
    else if (typeof id === 'string' && id !== '' && this.toolCalls.get(this.#lastCall)?.id !== id) {
      this.#lastCall = `#${this.toolCalls.size}`
    }
    let call = this.toolCalls.get(this.#lastCall)
    if (call === undefined) {
      call = { id: null, name: null, arguments: '' }
      this.toolCalls.set(this.#lastCall, call)
    }
    if (typeof id === 'string' && id !== '') call.id ??= id
    // Some send the name again with each piece, none sends it in pieces.
    if (typeof name === 'string' && name !== '') call.name ??= name
    if (typeof piece === 'string') call.arguments += piece
    else if (typeof piece === 'object' && piece !== null) call.arguments ||= JSON.stringify(piece)
  }

  /** Arguments as they came whole in the end; nothing new where their pieces came before. */
  callDone(key: unknown, whole: unknown): void {
    if (typeof key !== 'number' && typeof key !== 'string') return
    const call = this.toolCalls.get(key)
    if (call !== undefined && typeof whole === 'string') call.arguments ||= whole
  }
}

/**
 * Puts together what the events of a stream say in pieces: chat and legacy completions, the Responses and the
 * Messages API, the own forms of Gemini, Ollama and llama.cpp. Of several choices, `text`, `reasoning` and `toolCalls` are
 * those of the first (by its index). Never throws; what has an unknown form is passed over.
 */
export function readStreamText(events: readonly Fields[]): StreamText {
  const choices = new Map<number, ChoiceText>()
  for (const event of events) {
    const listed = event['choices']
    if (Array.isArray(listed)) {
      for (const choice of listed as unknown[]) {
        if (isFields(choice)) readChoice(choiceAt(choices, choice['index']), choice)
      }
    } else readEvent(choiceAt(choices, 0), event)
  }
  const [first] = [...choices].sort(([one], [other]) => one - other)
  const shown = first?.[1]
  return {
    text: shown?.text ?? null,
    reasoning: shown?.reasoning ?? null,
    toolCalls: [...(shown?.toolCalls.values() ?? [])],
    all: [...choices.values()].flatMap(textsOf),
  }
}

function textsOf(choice: ChoiceText): readonly string[] {
  const calls = [...choice.toolCalls.values()].flatMap((call) => [
    call.id ?? '',
    call.name ?? '',
    call.arguments,
  ])
  return [choice.text ?? '', choice.reasoning ?? '', ...calls]
}

function choiceAt(choices: Map<number, ChoiceText>, index: unknown): ChoiceText {
  const at = typeof index === 'number' ? index : 0
  let choice = choices.get(at)
  if (choice === undefined) {
    choice = new ChoiceText()
    choices.set(at, choice)
  }
  return choice
}

/** Chat completions, and legacy ones, which have `text`. */
function readChoice(to: ChoiceText, choice: Fields): void {
  to.say(choice['text'])
  const delta = choice['delta']
  if (isFields(delta)) readMessage(to, delta)
  // Some send what was said as a whole in their last event.
  else if (to.text === null && isFields(choice['message'])) readMessage(to, choice['message'])
}

function readMessage(to: ChoiceText, message: Fields): void {
  const content = message['content']
  if (Array.isArray(content)) readParts(to, content as unknown[])
  else to.say(content)
  to.say(message['refusal'])
  // vLLM and OpenRouter changed the name, and send it under both.
  to.reason(message['reasoning_content'] ?? message['reasoning'] ?? message['thinking'])
  const audio = message['audio']
  if (isFields(audio)) to.say(audio['transcript'])
  const single = message['function_call']
  if (isFields(single)) to.call('function_call', null, single['name'], single['arguments'])
  const calls = message['tool_calls']
  if (!Array.isArray(calls)) return
  for (const call of calls as unknown[]) {
    if (!isFields(call)) continue
    const made = isFields(call['function']) ? call['function'] : call['custom']
    const { name, arguments: pieces, input } = isFields(made) ? made : ({} as Fields)
    to.call(call['index'], call['id'], name, pieces ?? input)
  }
}

/** Mistral's reasoning models say both in parts. */
function readParts(to: ChoiceText, parts: readonly unknown[]): void {
  for (const part of parts) {
    if (!isFields(part)) continue
    to.say(part['text'])
    const thinking = part['thinking']
    if (Array.isArray(thinking)) {
      for (const thought of thinking as unknown[]) if (isFields(thought)) to.reason(thought['text'])
    } else to.reason(thinking)
  }
}

function readEvent(to: ChoiceText, event: Fields): void {
  const type = event['type']
  if (typeof type === 'string') {
    if (type.startsWith('response.')) readResponsesEvent(to, type, event)
    else if (type.startsWith('content_block')) readBlockEvent(to, event)
    return
  }
  if (Array.isArray(event['candidates'])) readCandidates(to, event['candidates'] as unknown[])
  // Ollama's own chat and generate, llama.cpp's own completion
  if (isFields(event['message'])) readMessage(to, event['message'])
  to.say(event['response'])
  to.say(event['content'])
  to.reason(event['thinking'])
}

/** Gemini's own form: parts, of which some are thoughts, some calls that come whole. */
function readCandidates(to: ChoiceText, candidates: readonly unknown[]): void {
  for (const candidate of candidates) {
    const content = isFields(candidate) ? candidate['content'] : null
    const parts = isFields(content) ? content['parts'] : null
    if (!Array.isArray(parts)) continue
    for (const part of parts as unknown[]) {
      if (!isFields(part)) continue
      if (part['thought'] === true) to.reason(part['text'])
      else to.say(part['text'])
      const made = part['functionCall']
      if (isFields(made)) to.call(`#${to.toolCalls.size}`, made['id'], made['name'], made['args'])
    }
  }
}

/** Anthropic's Messages API: a block begins, and grows by deltas. */
function readBlockEvent(to: ChoiceText, event: Fields): void {
  const { index, content_block: block, delta } = event
  if (isFields(block)) {
    to.say(block['text'])
    to.reason(block['thinking'])
    if (typeof block['name'] === 'string') to.call(index, block['id'], block['name'], '')
  }
  if (!isFields(delta)) return
  to.say(delta['text'])
  to.reason(delta['thinking'])
  if (typeof delta['partial_json'] === 'string') to.call(index, null, null, delta['partial_json'])
}

/** OpenAI's Responses API: an item is added, and grows by deltas. */
function readResponsesEvent(to: ChoiceText, type: string, event: Fields): void {
  const { delta, item, output_index: index } = event
  if (type === 'response.output_text.delta' || type === 'response.refusal.delta') to.say(delta)
  else if (type.startsWith('response.reasoning') && type.endsWith('.delta')) to.reason(delta)
  else if (type === 'response.reasoning_summary_part.added') {
    if (to.reasoning !== null) to.reason('\n\n')
  } else if (type === 'response.audio_transcript.delta' || type === 'response.audio.transcript.delta')
    to.say(delta)
  else if (callDeltas.has(type)) to.call(index, null, null, delta)
  else if (type === 'response.output_item.added' && isFields(item) && isCall(item)) {
    to.call(index, item['call_id'] ?? item['id'], item['name'], item['arguments'] ?? item['input'])
  } else if (type === 'response.output_item.done' && isFields(item) && isCall(item)) {
    to.callDone(index, item['arguments'] ?? item['input'])
  }
}

const callDeltas: ReadonlySet<string> = new Set([
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
  'response.mcp_call_arguments.delta',
  'response.code_interpreter_call_code.delta',
])

function isCall(item: Fields): boolean {
  return typeof item['type'] === 'string' && item['type'].endsWith('_call')
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
