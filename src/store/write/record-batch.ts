/**
 * Calls on their way to the writer's thread: numbers in one transferred array, repeated text as small numbers
 * whose words cross once, the rest as a list. A structured clone of the records would cost some thirty times as much.
 */
import { estimatedTokens } from '../../call/budget-tokens.ts'
import { callColumns, type StoredCall } from '../sqlite/call-columns.ts'

/** Behind the columns: tokens that are no part of the row, and that the budget counts with it. */
export const estimateSlot: number = 1 + callColumns.length

/** Numbers per call: the id, one slot for each of `callColumns`, in their order, and {@link estimateSlot}. */
export const slotsPerCall: number = estimateSlot + 1

/** `NaN` stands for null. A text column's slot is an index into `texts`, a dimension's the number of a word. */
export interface CallBatch {
  readonly count: number
  readonly slots: Float64Array<ArrayBuffer>
  readonly texts: readonly string[]
  /** The words that this batch is the first to use; they are numbered on from those before. */
  readonly newWords: readonly string[]
  /** The numbering starts again from zero with this batch. */
  readonly forgetWords: boolean
}

const limits = {
  /** Words and characters after which the numbering starts anew: clients choose them, and could choose endlessly. */
  words: 10_000,
  characters: 4_000_000,
  /** A longer word is cut: nobody reads more of a path or a user agent. */
  wordLength: 2000,
} as const

const numbers = callColumns.flatMap((column, index) =>
  column.kind === 'number' ? [{ slot: index + 1, read: column.read }] : [],
)
const dimensions = callColumns.flatMap((column, index) =>
  column.kind === 'dimension' ? [{ slot: index + 1, read: column.read }] : [],
)
const texts = callColumns.flatMap((column, index) =>
  column.kind === 'text' ? [{ slot: index + 1, read: column.read }] : [],
)

/** Where a column's value stands among a call's slots. */
export function slotOf(columnName: string): number {
  const index = callColumns.findIndex((column) => column.name === columnName)
  if (index < 0) throw new RangeError(`no such column: ${columnName}`)
  return index + 1
}

/** The sending side. Its batches make sense only to a {@link WordList} that has seen all of them, in order. */
export class BatchEncoder {
  readonly #wordLimit: number
  #numbers = new Map<string, number>()
  #characters = 0
  #newWords: string[] = []
  #forget = true

  constructor(wordLimit: number = limits.words) {
    this.#wordLimit = wordLimit
  }

  encode(calls: readonly StoredCall[]): CallBatch {
    if (this.#numbers.size > this.#wordLimit || this.#characters > limits.characters) {
      this.#numbers = new Map()
      this.#characters = 0
      this.#forget = true
    }
    const slots = new Float64Array(calls.length * slotsPerCall)
    const unique: string[] = []
    let base = 0
    for (const call of calls) {
      slots[base] = call.id
      for (const { slot, read } of numbers) slots[base + slot] = read(call)
      for (const { slot, read } of dimensions) {
        const word = read(call)
        slots[base + slot] = word === null ? Number.NaN : this.#numberOf(word)
      }
      for (const { slot, read } of texts) {
        const text = read(call)
        slots[base + slot] = text === null ? Number.NaN : unique.push(text) - 1
      }
      slots[base + estimateSlot] = estimatedTokens(call)
      base += slotsPerCall
    }
    const batch: CallBatch = {
      count: calls.length,
      slots,
      texts: unique,
      newWords: this.#newWords,
      forgetWords: this.#forget,
    }
    this.#newWords = []
    this.#forget = false
    return batch
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word)
    if (known !== undefined) return known
    const number = this.#numbers.size
    this.#numbers.set(word, number)
    this.#characters += word.length
    this.#newWords.push(word.length > limits.wordLength ? word.slice(0, limits.wordLength) : word)
    return number
  }
}

/** The receiving side's memory of the words. */
export class WordList {
  #words: string[] = []
  #generation = 0

  /** Rises whenever the numbers get new meanings. */
  get generation(): number {
    return this.#generation
  }

  /** Must be called once for each batch, in the order in which they were encoded. */
  accept(batch: CallBatch): void {
    if (batch.forgetWords) {
      this.#words = []
      this.#generation++
    }
    for (const word of batch.newWords) this.#words.push(word)
  }

  word(number: number): string {
    const word = this.#words[number]
    if (word === undefined) throw new RangeError(`no word ${number}: a batch is missing`)
    return word
  }
}
