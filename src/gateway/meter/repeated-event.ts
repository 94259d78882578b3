import { type Fields, fields } from './added-content.ts'

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

  /** Learns an event, with its top level and choices, which later events may equal. */
  learn(data: string, top: Fields, choices: readonly Fields[]): void {
    this.forget()
    const text = addedText(top, choices)
    // Without escapes, each text of the event is in the JSON unchanged.
    if (text === null || data.length > longestEvent || data.includes('\\')) return
    const quoted = `"${text}"`
    const at = data.indexOf(quoted)
    if (at < 0 || data.indexOf(quoted, at + 1) >= 0) return
    this.#before = data.slice(0, at + 1)
    this.#after = data.slice(at + quoted.length - 1)
  }

  /** Forgets the learned event, so that the next event is read. */
  forget(): void {
    this.#before = ''
  }

  /** True if `data` is the learned event with another text, which is not empty. */
  isIn(data: string): boolean {
    const [before, after] = [this.#before, this.#after]
    if (before === '' || data.length <= before.length + after.length) return false
    if (!data.startsWith(before) || !data.endsWith(after)) return false
    return plain.test(data.slice(before.length, data.length - after.length))
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
