import { type Fields, isCount, isObject } from '../../lib/message-shape.ts'

/**
 * Most names, and most characters of each name and id. Names are longer than in a record, so that masking
 * sees whole credentials.
 */
const mostNames = 5
const longestName = 300
const longestId = 200
/** Most tool calls of an answer that are counted. */
const mostCalls = 1000
const unfit = /[\p{Cc},]+/gu

/** A tool call, which a stream reports in one event or several. */
interface ToolCall {
  readonly choice: number
  readonly index: number
  readonly id: string
  name: string
  /** The number of the newest event that reported the call. */
  event: number
}

/** The source of an item: the event of its begin, of its end, or a whole output. */
type ItemSource = 'added' | 'done' | 'output'

/**
 * Collects the tool calls of an answer. A stream of Chat Completions has the name in a call's first piece, and the
 * arguments in the others. But Gemini sends the name in pieces, and MiniMax sends the whole name with each piece.
 * Old vLLM gives each piece another id, and some upstreams give all calls the same index.
 */
export class ToolCalls {
  /** Calls of chats, in the order in which they began. */
  readonly #calls: ToolCall[] = []
  /** Names of items by their source, because several events may report the same item. */
  readonly #items: Record<ItemSource, string[]> = { done: [], added: [], output: [] }
  #event = 0
  /** The number of events and bodies with tool calls, or pieces of them. */
  reports = 0

  /** The number of tool calls. */
  get count(): number {
    return this.#names().length
  }

  /** The names of the calls: each once, at most five, cut and joined by `,`; `null` without one. */
  get names(): string | null {
    const names = new Set<string>()
    for (const name of this.#names()) {
      const text = name.replaceAll(unfit, ' ').trim().slice(0, longestName)
      if (text !== '') names.add(text)
      if (names.size === mostNames) break
    }
    return names.size === 0 ? null : [...names].join(',')
  }

  /** Adds the tool calls, or pieces of them, of one choice in an event or body of a chat. */
  addCalls(choice: number, calls: readonly Fields[]): void {
    this.#event++
    this.reports++
    for (const { index, id, function: called, custom } of calls) {
      const name = nameOf(called) || nameOf(custom)
      if (name === '') continue
      const isId = typeof id === 'string' && id.length <= longestId
      this.#add({ choice, index: isCount(index) ? index : 0, id: isId ? id : '', name, event: this.#event })
    }
  }

  /** Adds items of a Responses output, or blocks of Messages. `type`: the event's type; null in a body. */
  addItems(type: string | null, items: readonly Fields[]): void {
    if (items.length === 0) return
    this.reports++
    const source = sourceOf(type ?? '')
    const names = this.#items[source]
    // An output is complete, and replaces an earlier one.
    if (source === 'output') names.length = 0
    for (const item of items) {
      const name = calledBy(item)
      if (name !== '' && names.length < mostCalls) names.push(name)
    }
  }

  #add(call: ToolCall): void {
    const last = this.#calls.findLast(({ choice, index }) => choice === call.choice && index === call.index)
    const isSame = call.id === '' || last?.id === '' || last?.id === call.id
    if (last === undefined || !isSame || last.event === call.event) {
      if (this.#calls.length < mostCalls) this.#calls.push(call)
      return
    }
    last.event = call.event
    if (last.name !== call.name && last.name.length < longestName) last.name += call.name
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

/**
 * The tool of an item of Responses (type ends in `_call`) or Messages (type ends in `tool_use`); empty for
 * other items.
 */
function calledBy(item: Fields): string {
  const type = typeof item['type'] === 'string' ? item['type'] : ''
  if (type.endsWith('tool_use')) return nameOf(item) || type
  return type.endsWith('_call') ? nameOf(item) || type.slice(0, -'_call'.length) : ''
}

function nameOf(called: unknown): string {
  return isObject(called) && typeof called['name'] === 'string' ? called['name'].slice(0, longestName) : ''
}
