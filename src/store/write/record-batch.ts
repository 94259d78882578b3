/**
 * Batches of calls for the writer's thread: numbers in one transferred array, repeated texts as small numbers
 * whose words are sent once, and the rest as a list. A structured clone of the records would cost thirty
 * times as much.
 */
import { estimatedTokens } from '../../call/budget-tokens.ts'
import { plausibleAmounts } from '../../call/fields/plausible-amounts.ts'
import { type NamedField, type RecordFields, storedFields } from '../../call/fields/call-fields.ts'
import type { StoredCall } from '../../call/call-record.ts'
import { recordReader } from '../../call/fields/record-reader.ts'
import type { OpenCall } from './open-calls.ts'

/** The index after the columns: estimated tokens, which the budget counts but the row does not have. */
export const estimateAt: number = 1 + storedFields.length

/** The index of a flag: 1 for a call that may be in `open_calls`. */
export const notedAt: number = estimateAt + 1

/** Numbers per call: the id, one for each of `storedFields`, in their order, {@link estimateAt} and {@link notedAt}. */
export const numbersPerCall: number = notedAt + 1

/** `NaN` stands for null. A `text` is its index in `texts`, a `word` its number. */
export interface CallBatch {
  readonly count: number
  readonly numbers: Float64Array<ArrayBuffer>
  readonly texts: readonly string[]
  /** The new words of this batch; their numbers follow those of earlier batches. */
  readonly newWords: readonly string[]
  /** True if the numbering restarts at zero with this batch. */
  readonly isRestart: boolean
}

const limits = {
  /** Words and characters after which the numbering restarts, because clients can send endless words. */
  words: 10_000,
  characters: 4_000_000,
  /** Longest word, for a path or a user agent; a longer one is cut. */
  wordLength: 2000,
} as const

/** The whole number, or unknown if it is out of range, because an upstream or a file may have any number. */
function integerWithin(value: number, least: number, most: number): number {
  return value <= most && value >= least ? Math.round(value) : Number.NaN
}

/** The SQL value of a field, as source text: `value` names the record's value. */
function encoding(field: NamedField): string {
  const { kind, codes } = field
  switch (kind) {
    case 'time':
      return `whole(value * 1000, ${plausibleAmounts(field).join(', ')})`
    case 'flag':
      return 'Number(value)'
    case 'code':
      return `${JSON.stringify(codes)}[value]`
    case 'fingerprint':
      return 'Number.parseInt(value, 16) | 0'
    case 'word':
      return 'numberOf(value)'
    case 'text':
      return 'texts.push(value) - 1'
    default:
      return `whole(value, ${plausibleAmounts(field).join(', ')})`
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
 * Writes a call into its numbers, field by field. The function is generated from the table of fields once: a
 * loop over field names takes twice as long.
 */
// oxlint-disable-next-line typescript/no-implied-eval -- nothing goes into it but our own table.
const fill: Fill = new Function(
  'whole',
  `return (call, numbers, base, texts, numberOf) => {
    let value
    ${storedFields.map((field, index) => `value = call.${field.record}; numbers[base + ${index + 1}] = value === null ? NaN : ${encoding(field)}`).join('\n')}
  }`,
)(integerWithin)

/** The index of each field's value among a call's numbers. */
export const indexOf: Readonly<Record<NamedField['record'], number>> = Object.fromEntries(
  storedFields.map(({ record }, index) => [record, index + 1]),
) as Record<NamedField['record'], number>

type ReadBatch<Read> = (
  numbers: Float64Array,
  base: number,
  texts: readonly string[],
  words: Pick<Dictionary, 'word'>,
) => Read

/**
 * Returns a reader of some fields of the call whose numbers begin at `base`. The words of its batch must have
 * been accepted.
 */
export function batchReader<Read extends Partial<RecordFields>>(
  fields: readonly NamedField[],
  first?: string,
): ReadBatch<Read> {
  const places = fields.map(({ record }) => indexOf[record])
  const source = {
    at: (index: number) => `numbers[base + ${places[index]}]`,
    isUnknown: 'Number.isNaN(value)',
    word: () => 'words.word(value)',
    text: 'texts[value]',
  }
  return recordReader<ReadBatch<Read>>(fields, ['numbers', 'base', 'texts', 'words'], source, first)
}

const read = batchReader<StoredCall>(storedFields, 'id: numbers[base],')

/**
 * The call whose numbers begin at `base`; times are rounded to a microsecond. The words of its batch must
 * have been accepted.
 */
export function callIn({ numbers, texts }: CallBatch, base: number, words: Dictionary): StoredCall {
  return read(numbers, base, texts, words)
}

/** Words and their numbers, from one renewal of the numbering to the next. */
class WordNumbers {
  readonly #numbers = new Map<string, number>()
  #unsent: string[] = []
  #characters = 0

  isFull(wordLimit: number): boolean {
    return this.#numbers.size > wordLimit || this.#characters > limits.characters
  }

  readonly numberOf = (word: string): number => {
    const existing = this.#numbers.get(word)
    if (existing !== undefined) return existing
    const number = this.#numbers.size
    this.#numbers.set(word, number)
    this.#characters += word.length
    this.#unsent.push(word)
    return number
  }

  /** The words not taken yet, or all, in the order of their numbers. */
  take(areAll: boolean): readonly string[] {
    const words = areAll ? [...this.#numbers.keys()] : this.#unsent
    this.#unsent = []
    return words.map((word) => (word.length > limits.wordLength ? word.slice(0, limits.wordLength) : word))
  }
}

/** Calls for which there is memory at first. */
const firstRoom = 64

/** Calls that are encoded as they end. The oldest can be dropped before the batch is sent. */
export class FilledBatch {
  readonly words: WordNumbers
  #numbers = new Float64Array(firstRoom * numbersPerCall)
  readonly texts: string[] = []
  /** Index of the first call that was not dropped. */
  #first = 0
  #past = 0

  constructor(words: WordNumbers) {
    this.words = words
  }

  get size(): number {
    return this.#past - this.#first
  }

  add(call: StoredCall & Pick<OpenCall, 'noted'>): void {
    const base = this.#past * numbersPerCall
    if (base === this.#numbers.length) {
      const larger = new Float64Array(2 * base)
      larger.set(this.#numbers)
      this.#numbers = larger
    }
    this.#numbers[base] = call.id
    fill(call, this.#numbers, base, this.texts, this.words.numberOf)
    this.#numbers[base + estimateAt] = estimatedTokens(call)
    this.#numbers[base + notedAt] = (call.noted ?? 0) ? 1 : 0
    this.#past++
  }

  giveUpOldest(): void {
    this.#first++
  }

  /** A copy for sending. */
  numbers(): Float64Array<ArrayBuffer> {
    return this.#numbers.slice(this.#first * numbersPerCall, this.#past * numbersPerCall)
  }
}

/** The sending side. Batches make sense only to a {@link Dictionary} that has seen all of them, in order. */
export class BatchEncoder {
  readonly #wordLimit: number
  #words = new WordNumbers()
  /** The dictionary of the receiving side. */
  #receiverWords: WordNumbers | null = null

  constructor(wordLimit: number = limits.words) {
    this.#wordLimit = wordLimit
  }

  /** A new batch. Send earlier batches before it. */
  begin(): FilledBatch {
    if (this.#words.isFull(this.#wordLimit)) this.#words = new WordNumbers()
    return new FilledBatch(this.#words)
  }

  /** The batch as sent to the thread; the original stays unchanged. */
  send(batch: FilledBatch): CallBatch {
    const { words, texts, size } = batch
    const isRestart = this.#receiverWords !== words
    this.#receiverWords = words
    return { count: size, numbers: batch.numbers(), texts, newWords: words.take(isRestart), isRestart }
  }

  /** Call it when the receiver has started again: it knows no words. */
  forget(): void {
    this.#receiverWords = null
  }

  encode(calls: readonly StoredCall[]): CallBatch {
    const batch = this.begin()
    for (const call of calls) batch.add(call)
    return this.send(batch)
  }
}

/** The receiving side's memory of the words. */
export class Dictionary {
  #words: string[] = []
  #generation = 0

  /** A number that rises whenever numbers get new meanings. */
  get generation(): number {
    return this.#generation
  }

  /** Must be called once for each batch, in the order in which they were encoded. */
  accept(batch: CallBatch): void {
    if (batch.isRestart) {
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
