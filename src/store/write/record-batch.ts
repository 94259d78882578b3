/**
 * Calls on their way to the writer's thread: numbers in one transferred array, repeated text as small numbers
 * whose words cross once, the rest as a list. A structured clone of the records would cost some thirty times as much.
 */
import { estimatedTokens } from '../../call/budget-tokens.ts'
import { type NamedField, storedFields } from '../../call/call-fields.ts'
import type { StoredCall } from '../../call/call-record.ts'

/** Behind the columns: tokens that are no part of the row, and that the budget counts with it. */
export const estimateAt: number = 1 + storedFields.length

/** Numbers per call: the id, one for each of `storedFields`, in their order, and {@link estimateAt}. */
export const numbersPerCall: number = estimateAt + 1

/** `NaN` stands for null. That of a `text` is its index in `texts`, that of a `word` the word's number. */
export interface CallBatch {
  readonly count: number
  readonly numbers: Float64Array<ArrayBuffer>
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

/** Whole numbers only, and none that a reader could not hold: an upstream may report any count it likes. */
function whole(value: number): number {
  return value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER
    ? Math.round(value)
    : Number.NaN
}

/** What a value is stored as, in the words of the program: `value` is what the record has. */
function encoding({ kind, codes }: NamedField): string {
  switch (kind) {
    case 'time':
      return 'whole(value * 1000)'
    case 'code':
      return `${JSON.stringify(codes)}[value]`
    case 'fingerprint':
      return 'Number.parseInt(value, 16) | 0'
    case 'word':
      return 'numberOf(value)'
    case 'text':
      return 'texts.push(value) - 1'
    default:
      return 'whole(Number(value))'
  }
}

type Fill = (
  call: StoredCall,
  numbers: Float64Array,
  base: number,
  texts: string[],
  numberOf: (word: string) => number,
) => void

/**
 * Writes a call into its numbers, field by field. The program is made of the table of fields once, at the start: reading
 * the fields by their names in a loop takes twice as long.
 */
// oxlint-disable-next-line typescript/no-implied-eval -- nothing goes into it but our own table.
const fill: Fill = new Function(
  'whole',
  `return (call, numbers, base, texts, numberOf) => {
    let value
    ${storedFields.map((field, index) => `value = call.${field.record}; numbers[base + ${index + 1}] = value === null ? NaN : ${encoding(field)}`).join('\n')}
  }`,
)(whole)

/** The value that {@link encoding} has stored as `value`. */
function decoding({ kind, codes }: NamedField): string {
  switch (kind) {
    case 'time':
      return 'value / 1000'
    case 'code':
      return `${JSON.stringify(Object.fromEntries(Object.entries(codes ?? {}).map(([word, code]) => [code, word])))}[value]`
    case 'flag':
      return 'value === 1'
    case 'fingerprint':
      return "(value >>> 0).toString(16).padStart(8, '0')"
    case 'word':
      return 'words.word(value)'
    case 'text':
      return 'texts[value]'
    default:
      return 'value'
  }
}

type Read = (numbers: Float64Array, base: number, texts: readonly string[], words: WordList) => StoredCall

// oxlint-disable-next-line typescript/no-implied-eval -- nothing goes into it but our own table.
const read: Read = new Function(
  `return (numbers, base, texts, words) => {
    let value
    return {
      id: numbers[base],
      ${storedFields.map((field, index) => `${field.record}: Number.isNaN(value = numbers[base + ${index + 1}]) ? null : ${decoding(field)},`).join('\n')}
    }
  }`,
)()

/** The call whose numbers begin at `base`, as it was encoded: times to a microsecond. The words of its batch must have been accepted. */
export function callIn({ numbers, texts }: CallBatch, base: number, words: WordList): StoredCall {
  return read(numbers, base, texts, words)
}

/** Where each field's value stands among a call's numbers. */
export const indexOf: Readonly<Record<NamedField['record'], number>> = Object.fromEntries(
  storedFields.map(({ record }, index) => [record, index + 1]),
) as Record<NamedField['record'], number>

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
    const numbers = new Float64Array(calls.length * numbersPerCall)
    const texts: string[] = []
    const numberOf = (word: string): number => this.#numberOf(word)
    let base = 0
    for (const call of calls) {
      numbers[base] = call.id
      fill(call, numbers, base, texts, numberOf)
      numbers[base + estimateAt] = estimatedTokens(call)
      base += numbersPerCall
    }
    const batch: CallBatch = {
      count: calls.length,
      numbers,
      texts,
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
