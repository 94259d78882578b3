import type { OutgoingRecord, PayloadRecord } from '../api/raw-log.ts'
import { listOf, objectOf, textOf, type JsonObject } from '../conversation/json-value.ts'
import { readAnswer } from '../conversation/read-answer.ts'
import { type ChatMessage, type MessagePart, wordsOf } from '../conversation/read-messages.ts'
import { readRequest } from '../conversation/read-request.ts'

interface TrainingCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

interface TrainingMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | null
  readonly tool_calls?: readonly TrainingCall[]
  readonly tool_call_id?: string
}

/** A line of OpenAI's form for fine-tuning: https://platform.openai.com/docs/guides/supervised-fine-tuning#formatting-your-data */
export interface TrainingExample {
  readonly messages: readonly TrainingMessage[]
  readonly tools?: readonly unknown[]
  readonly parallel_tool_calls?: boolean
}

/** Why a call cannot be told so, in the words of the report: "3 <words>". */
export const skipWords = {
  no_conversation: 'that are no conversation',
  failed: 'that failed',
  cut: 'that are cut or withheld',
  media: 'with images, sounds or files',
  earlier: 'that go on from an answer kept by the upstream',
  no_answer: 'without an answer',
  no_request: 'whose request is not kept',
  not_recorded: 'not in the database, which the filters need',
} as const

export type SkipReason = keyof typeof skipWords

const roles: Readonly<Record<string, TrainingMessage['role']>> = {
  System: 'system',
  Developer: 'system',
  User: 'user',
  Input: 'user',
  Assistant: 'assistant',
  'Assistant, choice 1': 'assistant',
  Tool: 'tool',
}

/** A part of a message that is none of text, as it stands in a request. */
const mediaInside = /"type":"(?:image|image_url|input_image|input_audio|document|file|input_file)"/

/** What a call asked and was answered as an example to learn from, or why it cannot be one. Reasoning is left out: the form has no place for it. */
export function trainingExample(
  request: PayloadRecord,
  answer: OutgoingRecord,
): TrainingExample | SkipReason {
  if (answer.outcome !== 'ok') return 'failed'
  const body = objectOf(request.body)
  const isWithheld = (record: PayloadRecord): boolean =>
    record.body === null && record.body_withheld !== undefined
  if (request.truncated || answer.truncated || isWithheld(request)) return 'cut'
  if (!Array.isArray(body['messages']) && body['input'] === undefined) return 'no_conversation'
  if (textOf(body['previous_response_id']) !== null || isGiven(body['conversation'])) return 'earlier'
  if (mediaInside.test(JSON.stringify(body['messages'] ?? body['input']))) return 'media'
  const answered = readAnswer(answer).filter(({ speaker }) => !/, choice (?!1$)/.test(speaker))
  const conversation = new Conversation()
  for (const message of [...readRequest(body).messages, ...answered]) {
    const reason = conversation.add(message)
    if (reason !== null) return reason
  }
  const { messages } = conversation
  if (isWithheld(answer) && answered.length === 0) return 'cut'
  if (answered.length === 0 || messages.at(-1)?.role !== 'assistant') return 'no_conversation'
  const tools = [...listOf(body['tools']), ...listOf(body['functions'])].flatMap(toolOf)
  const parallel = body['parallel_tool_calls']
  return {
    messages,
    ...(tools.length > 0 && { tools }),
    ...(tools.length > 0 && typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
  }
}

/** Turns as the form has them: all that the assistant says at once is one message, each answer of a tool one of its own. */
class Conversation {
  readonly messages: TrainingMessage[] = []
  #calls = 0
  #lastCall = ''

  /** Answers why it has no place, or null. */
  add({ speaker, parts }: ChatMessage): SkipReason | null {
    const role = roles[speaker]
    if (role === undefined || parts.some(({ kind }) => kind === 'json')) return 'no_conversation'
    if (parts.some(({ kind }) => kind === 'media')) return 'media'
    for (const part of parts) {
      if (part.kind !== 'result') continue
      this.messages.push({ role: 'tool', content: part.text, tool_call_id: part.id ?? this.#lastCall })
    }
    const words = wordsOf(parts.filter(({ kind }) => kind === 'text' || kind === 'refusal'))
    const calls = parts.flatMap((part) => (part.kind === 'call' ? [this.#call(part)] : []))
    if (role !== 'assistant' && words !== '') this.messages.push({ role, content: words })
    if (role === 'assistant' && (words !== '' || calls.length > 0)) this.#say(words, calls)
    return null
  }

  #say(words: string, calls: readonly TrainingCall[]): void {
    const before = this.messages.at(-1)?.role === 'assistant' ? this.messages.pop() : undefined
    const content = [before?.content ?? '', words].filter((text) => text !== '').join('\n')
    const all = [...(before?.tool_calls ?? []), ...calls]
    this.messages.push({
      role: 'assistant',
      content: content === '' ? null : content,
      ...(all.length > 0 && { tool_calls: all }),
    })
  }

  /** OpenAI's former form has no ids. */
  #call({ id, name, text }: MessagePart & { readonly kind: 'call' }): TrainingCall {
    this.#calls += 1
    this.#lastCall = id ?? `call_${this.#calls}`
    return { id: this.#lastCall, type: 'function', function: { name, arguments: text } }
  }
}

/** A tool that the client has; what the upstream itself does, as a search, has no place in the form. */
function toolOf(value: unknown): readonly object[] {
  const tool = objectOf(value)
  if (isGiven(tool['function'])) return [tool]
  const { name, description, parameters, input_schema: schema = parameters, type = 'function' } = tool
  const isOwn = type === 'function' || type === 'custom'
  if (textOf(name) === null || !isOwn) return []
  return [{ type: 'function', function: { name, ...given({ description, parameters: schema }) } }]
}

function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isGiven(value)))
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
