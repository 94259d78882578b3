import { tooLong } from '../../json/json-scan.ts'
import { type Fields, fields, list } from '../../lib/message-shape.ts'

/** The kind of text that an event adds to an answer. */
export type EventContent = 'none' | 'reasoning' | 'visible'

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

/** A text whose JSON is the text itself: no quote, no escape, no control character. */
// oxlint-disable-next-line no-control-regex
const plain = /^[^"\\\u0000-\u001f]+$/
/** Most characters of an event that is learned; most events are shorter. */
const longestEvent = 2048

/**
 * Recognises an event that equals an earlier one except for the added text, as most events of a stream do.
 * Such an event needs no parsing, which saves 1.0 of 1.4 µs.
 */
export class RepeatedEvent {
  #before = ''
  #after = ''
  #content: EventContent = 'none'

  /** Learns an event with the content that it adds, its top level and choices, which later events may equal. */
  learn(data: string, content: EventContent, top: Fields, choices: readonly Fields[]): void {
    this.forget()
    const text = addedText(top, choices)
    // Without escapes, each text of the event is in the JSON unchanged.
    if (text === null || data.length > longestEvent || data.includes('\\')) return
    const quoted = `"${text}"`
    const at = data.indexOf(quoted)
    if (at < 0 || data.indexOf(quoted, at + 1) >= 0) return
    this.#content = content
    this.#before = data.slice(0, at + 1)
    this.#after = data.slice(at + quoted.length - 1)
  }

  /** Forgets the learned event, so that the next event is read. */
  forget(): void {
    this.#before = ''
  }

  /** The content that `data` adds if it is the learned event with another text, which is not empty; else null. */
  contentOf(data: string): EventContent | null {
    const [before, after] = [this.#before, this.#after]
    if (before === '' || data.length <= before.length + after.length) return null
    if (!data.startsWith(before) || !data.endsWith(after)) return null
    return plain.test(data.slice(before.length, data.length - after.length)) ? this.#content : null
  }
}

/** The text that an event adds; null without a single text in one of the usual places. */
function addedText(top: Fields, choices: readonly Fields[]): string | null {
  const [choice = {}] = choices
  const delta = fields(choice['delta'] ?? top['delta'])
  const texts = [
    delta['content'],
    delta['reasoning_content'],
    delta['text'],
    delta['thinking'],
    choice['text'],
  ]
  const text = texts.find((candidate) => typeof candidate === 'string' && candidate !== '')
  return typeof text === 'string' ? text : null
}
