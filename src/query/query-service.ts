import { createHash } from 'node:crypto'
import { FoldedRangeError } from '../call/folded-range.ts'
import { priceFileOf } from '../pricing/price-file.ts'
import { PricesInForce } from '../pricing/prices-in-force.ts'
import { QueryTooSlowError } from '../call/query-too-slow.ts'
import { type AnswerText, answerQuestion } from './answer-question.ts'
import type { QueryFailure, QueryFault, QueryReply, ToQuery } from './query-messages.ts'
import { QueryError } from './query-question.ts'
import { StoreFile } from './store-file.ts'

/** Inside the query process: answers one question after the other, whatever becomes of the database. */
export class QueryService {
  readonly #file: StoreFile
  readonly #prices: PricesInForce
  readonly #now: () => number
  #untilMs = 0

  /** `now` tells monotonic milliseconds. */
  constructor(path: string, now: () => number) {
    this.#file = new StoreFile(path, () => this.#now() > this.#untilMs)
    this.#prices = new PricesInForce(priceFileOf(path))
    this.#now = now
  }

  /** Never rejects. One question at a time. */
  async answer(asked: ToQuery): Promise<QueryReply> {
    this.#untilMs = this.#now() + asked.budgetMs
    try {
      const { format, text, nextCursor } = await this.#textOf(asked)
      const body = typeof text === 'string' ? Buffer.from(text) : text
      const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22)
      return { kind: 'answer', format, body, tag, nextCursor }
    } catch (error) {
      return failureOf(error)
    }
  }

  close(): void {
    this.#file.close()
  }

  async #textOf({ question, nowMs }: ToQuery): Promise<AnswerText> {
    // Nobody else needs them, and they are quick to look at.
    if (question.kind === 'costs' || question.kind === 'matches') this.#prices.look()
    const prices = this.#prices
    try {
      return await answerQuestion({ ...this.#file.store(), prices }, question, nowMs)
    } catch (error) {
      const absent = this.#file.absenceAfter(error)
      if (absent === null) throw error
      return answerQuestion({ ...absent, prices }, question, nowMs)
    }
  }
}

function failureOf(error: unknown): QueryFailure | QueryFault {
  if (error instanceof QueryError) {
    return { kind: 'refused', code: error.code, message: error.message, param: error.param }
  }
  if (error instanceof FoldedRangeError) {
    const from = new Date(error.unfoldedFromMs).toISOString()
    const message = `Calls before ${from} are kept as sums of quarter hours, which do not tell this; ask from ${from} on.`
    return { kind: 'refused', code: 'folded_range', message, param: 'from' }
  }
  if (error instanceof QueryTooSlowError) {
    const message = 'The answer takes too long; ask for a shorter range, or with fewer filters.'
    return { kind: 'refused', code: 'too_slow', message, param: null }
  }
  return { kind: 'fault', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
