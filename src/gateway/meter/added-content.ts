import { tooLong } from '../../json/json-scan.ts'
import { isObject } from '../../lib/message-shape.ts'

/** The kind of text that an event adds to an answer. */
export type EventContent = 'none' | 'reasoning' | 'visible'

export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = {}
const noElements: readonly Fields[] = []

/** True if an event adds content that a reader sees, refusals and tool calls included. */
export function addsVisible(top: Fields, type: string | null, choices: readonly Fields[]): boolean {
  const { delta } = top
  if (isText(delta)) return isTextDelta(type) && !isOfReasoning(type)
  const { text, partial_json: json } = fields(delta)
  return (
    isText(text) || isText(json) || choices.some(isVisible) || isText(fields(top['content_block'])['name'])
  )
}

/** True if an event adds reasoning. */
export function addsReasoning(top: Fields, type: string | null, choices: readonly Fields[]): boolean {
  const { delta } = top
  if (isText(delta)) return isTextDelta(type) && isOfReasoning(type)
  return isText(fields(delta)['thinking']) || choices.some(isReasoning)
}

function isTextDelta(type: string | null): boolean {
  return type !== null && type.endsWith('.delta')
}

function isOfReasoning(type: string | null): boolean {
  return type !== null && type.includes('reasoning')
}

function isVisible({ text, delta }: Fields): boolean {
  const { content, refusal, tool_calls: calls, function_call: called, audio } = fields(delta)
  return (
    isText(content) ||
    isText(text) ||
    isText(refusal) ||
    list(content).some((part) => isText(part['text'])) ||
    list(calls).some((call) => isCalled(call['function']) || isCalled(call['custom'])) ||
    isCalled(called) ||
    isText(fields(audio)['data']) ||
    isText(fields(audio)['transcript'])
  )
}

function isReasoning({ delta }: Fields): boolean {
  const { content, reasoning_content: ofDeepSeek, reasoning } = fields(delta)
  return (
    isText(reasoning) ||
    isText(ofDeepSeek) ||
    list(content).some(
      ({ thinking }) => isText(thinking) || list(thinking).some((part) => isText(part['text'])),
    )
  )
}

function isCalled(called: unknown): boolean {
  const { name, arguments: text, input } = fields(called)
  return isText(name) || isText(text) || isText(input)
}

function isText(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : value === tooLong
}

/** The members of an object; empty for any other value. */
export function fields(value: unknown): Fields {
  return isObject(value) ? value : noFields
}

/** The objects in an array; empty for any other value. */
export function list(value: unknown): readonly Fields[] {
  if (!Array.isArray(value)) return noElements
  return value.every(isObject) ? value : value.filter(isObject)
}
