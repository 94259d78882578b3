import { type EventContent, type Fields, fields } from './added-content.ts'

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
