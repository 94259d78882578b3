import { createHash } from 'node:crypto'
import type { StoreReader } from '../call/call-reader.ts'
import { FoldedRangeError, QueryTooSlowError } from '../call/no-answer.ts'
import { priceFileOf } from '../pricing/price-file.ts'
import { PricesInForce } from '../pricing/prices-in-force.ts'
import { callReader, openCallReader } from '../store/read/call-query.ts'
import { absenceOf, absenceText, openEmpty, type StoreAbsence } from '../store/sqlite/open-store.ts'
import { startMending } from '../store/sqlite/mend-sums.ts'
import { sqliteCode, sqliteCodes } from '../store/sqlite/sqlite-code.ts'
import { fileKey } from '../store/sqlite/store-files.ts'
import { type AnswerText, answerQuestion } from './answer-question.ts'
import {
  type QueryFailure,
  type QueryFault,
  type QueryReply,
  type ToQuery,
  tooSlow,
} from './query-messages.ts'
import { QueryError } from './query-question.ts'

/** A store without calls and gateways, used if there is no database. */
export const emptyStore: StoreReader = callReader(openEmpty())

/** Answers questions in the query process, one after the other, even if the database is damaged or replaced. */
export class QueryService {
  readonly #path: string
  readonly #prices: PricesInForce
  readonly #now: () => number
  #open: { readonly store: StoreReader; readonly identity: string } | null = null
  #untilMs = 0

  /** `now` returns monotonic milliseconds. */
  constructor(path: string, now: () => number) {
    this.#path = path
    this.#prices = new PricesInForce(priceFileOf(path))
    this.#now = now
  }

  /** Answers a question. Never rejects. Call it again only when it has resolved. */
  async answer(question: ToQuery): Promise<QueryReply> {
    this.#untilMs = this.#now() + question.budgetMs
    try {
      const { format, text, nextCursor } = await this.#textOf(question)
      const body = typeof text === 'string' ? Buffer.from(text) : text
      const tag = createHash('sha256').update(body).digest('base64url').slice(0, 22)
      return { kind: 'answer', format, body, tag, nextCursor }
    } catch (error) {
      return failureOf(error)
    }
  }

  close(): void {
    this.#open?.store.close()
    this.#open = null
  }

  async #textOf({ question, nowMs }: ToQuery): Promise<AnswerText> {
    // Other questions do not need the prices.
    if (['call', 'costs', 'matches'].includes(question.kind)) this.#prices.reloadIfChanged()
    const prices = this.#prices
    const answer = (store: StoreReader | StoreAbsence): Promise<AnswerText> =>
      typeof store === 'string'
        ? answerQuestion(
            { store: emptyStore, note: { store, note: absenceText[store] }, prices },
            question,
            nowMs,
          )
        : answerQuestion({ store, note: null, prices }, question, nowMs)
    try {
      return await answer(this.#store())
    } catch (error) {
      const absence = absenceOf(error)
      if (absence === null) throw error
      this.close()
      if (sqliteCode(error) === sqliteCodes.corrupt) startMending(this.#path)
      return answer(absence)
    }
  }

  /** The database that is now at the path. If the file was created, deleted or replaced, it is opened again. */
  #store(): StoreReader | StoreAbsence {
    const identity = fileKey(this.#path) ?? 'none'
    if (this.#open !== null && this.#open.identity !== identity) this.close()
    if (this.#open === null) {
      const store = openCallReader(this.#path, () => this.#now() > this.#untilMs)
      if (typeof store === 'string') return store
      this.#open = { store, identity }
    }
    return this.#open.store
  }
}

function failureOf(error: unknown): QueryFailure | QueryFault {
  if (error instanceof QueryError) {
    const { code, message, param, data } = error
    return { kind: 'refused', code, message, param, data }
  }
  if (error instanceof FoldedRangeError) {
    const from = new Date(error.unfoldedFromMs).toISOString()
    const message = `Calls before ${from} are rolled up into hourly totals, which lack this; use from=${from}.`
    return { kind: 'refused', code: 'folded_range', message, param: 'from', data: { from } }
  }
  if (error instanceof QueryTooSlowError) return tooSlow
  return { kind: 'fault', message: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
