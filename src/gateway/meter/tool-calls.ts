import { countPiece, stringPiece } from '../../json/json-piece.ts'
import type { AnswerPart } from './answer-places.ts'

/** Most names that are kept, and so much of each, in characters: more than a record holds, to see credentials whole. */
const mostNames = 5
const longestName = 300
/** Calls of one answer beyond it are not told apart, and so not counted. */
const mostCalls = 1000
/** Of a call whose choice is not over yet. */
const openChoice = -1
const unfit = /[\p{Cc},]+/gu

/** A call as a stream tells of it, in one event or in several. */
interface ToolCall {
  choice: number
  readonly index: number
  readonly id: string
  name: string
  /** The newest event that told of it. */
  event: number
}

/** What may tell of items: the begin of one, its end, or a whole output. */
type ItemSource = 'added' | 'done' | 'output'

/**
 * Reads off the tool calls of one answer. A stream of Chat Completions names a call in its first piece and sends the
 * arguments in the others; but some upstreams send the name in pieces (Gemini), some the whole name with each
 * (MiniMax), some give all calls the same index, and some each piece another id (old vLLM). What an event says counts
 * once the event is whole.
 */
export class ToolCalls {
  /** Calls of chats, in the order in which they began. */
  readonly #calls: ToolCall[] = []
  /** Names of items by what told of them, as several may tell of the same. */
  #items: Readonly<Record<ItemSource, readonly string[]>> = { done: [], added: [], output: [] }
  /** Of the event at hand. */
  readonly #newCalls: ToolCall[] = []
  readonly #newItems: string[] = []
  #hasItems = false
  #event = 0
  /** Of the call or item at hand. */
  #name = ''
  #index = 0
  #id = ''
  #type = ''

  /** How many calls there are. */
  get count(): number {
    return this.#names().length
  }

  /** Their names, each once, at most five, cut and joined by `,`; `null` if there are none. */
  get names(): string | null {
    const names = new Set<string>()
    for (const name of this.#names()) {
      const text = name.replaceAll(unfit, ' ').trim().slice(0, longestName)
      if (text !== '') names.add(text)
      if (names.size === mostNames) break
    }
    return names.size === 0 ? null : [...names].join(',')
  }

  /** A part of the call or item at hand. */
  note(part: AnswerPart, bytes: Buffer, start: number, end: number): void {
    if (part === 'toolIndex') this.#index = countPiece(bytes, start, end) ?? 0
    else if (part === 'toolId') this.#id = stringPiece(bytes, start, end) ?? ''
    else if (part === 'itemType') this.#type = stringPiece(bytes, start, end) ?? ''
    else this.#name = stringPiece(bytes, start, end) ?? ''
  }

  /** The call at hand is over, as far as the event tells of it. */
  endCall(): void {
    if (this.#name !== '' && this.#newCalls.length < mostCalls) {
      const call = { index: this.#index, id: this.#id, name: this.#name, event: this.#event }
      this.#newCalls.push({ choice: openChoice, ...call })
    }
    this.#forget()
  }

  /** The choice of the calls before is over, and its number known. */
  endChoice(choice: number): void {
    // The call of the form before `tool_calls`, which has no list.
    this.endCall()
    for (let at = this.#newCalls.length - 1; at >= 0; at--) {
      const call = this.#newCalls[at]
      if (call?.choice !== openChoice) break
      call.choice = choice
    }
  }

  /** The item at hand is over. Most are no calls. */
  endItem(): void {
    this.#hasItems = true
    const called = calledBy(this.#type, this.#name)
    if (called !== '' && this.#newItems.length < mostCalls) this.#newItems.push(called)
    this.#forget()
  }

  /** The event, or the body, is over. `type`: what a stream of Responses or Messages calls the event. */
  end(isWhole: boolean, type: string | null): void {
    if (isWhole) {
      for (const call of this.#newCalls) this.#add(call)
      if (this.#hasItems) this.#addItems(sourceOf(type ?? ''))
    }
    this.#event++
    this.#newCalls.length = 0
    this.#newItems.length = 0
    this.#hasItems = false
    this.#forget()
  }

  #add(call: ToolCall): void {
    const known = this.#calls.findLast(({ choice, index }) => choice === call.choice && index === call.index)
    const isSame = call.id === '' || known?.id === '' || known?.id === call.id
    if (known === undefined || !isSame || known.event === call.event) {
      if (this.#calls.length < mostCalls) this.#calls.push(call)
      return
    }
    known.event = call.event
    if (known.name !== call.name && known.name.length < longestName) known.name += call.name
  }

  #addItems(source: ItemSource): void {
    // An output is whole: what an earlier one told is out of date.
    const before = source === 'output' ? [] : this.#items[source]
    this.#items = { ...this.#items, [source]: [...before, ...this.#newItems].slice(0, mostCalls) }
  }

  #forget(): void {
    this.#name = ''
    this.#index = 0
    this.#id = ''
    this.#type = ''
  }

  #names(): readonly string[] {
    const { done, added, output } = this.#items
    const items = [done, added, output].reduce((most, list) => (list.length > most.length ? list : most))
    return [...this.#calls.map(({ name }) => name), ...items]
  }
}

function sourceOf(eventType: string): ItemSource {
  if (eventType.endsWith('.added') || eventType === 'content_block_start') return 'added'
  return eventType.endsWith('.done') ? 'done' : 'output'
}

/** The tool of an item: of Responses, whose types end in `_call`, or of Messages, where they end in `tool_use`; else empty. */
function calledBy(type: string, name: string): string {
  if (type.endsWith('tool_use')) return name === '' ? type : name
  if (!type.endsWith('_call')) return ''
  return name === '' ? type.slice(0, -'_call'.length) : name
}
