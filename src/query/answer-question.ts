import type { CallReader } from '../call/call-reader.ts'
import { formatCallId } from '../call/call-id.ts'
import { publicFields } from '../store/sqlite/calls-readable.ts'
import type { PricesInForce } from '../pricing/prices-in-force.ts'
import type { PastReader } from '../store/read/history-reader.ts'
import type { ServedReader } from '../store/read/served-models.ts'
import { emptyFigures } from '../store/read/group-figures.ts'
import { endedAnswer } from './ended-answer.ts'
import { groupAnswer } from './group-answer.ts'
import { listAnswer, listedCalls } from './list-answer.ts'
import { costsAnswer } from './costs-answer.ts'
import { matchesAnswer } from './matches-answer.ts'
import { overviewAnswer } from './overview-answer.ts'
import { payloadAnswer, recentPayloadsAnswer } from './payload-answer.ts'
import type { GroupQuestion, ListQuestion, QueryFormat, QueryQuestion } from './query-question.ts'
import { QueryRefusal } from './query-refusal.ts'
import { columnsOf, csvText, ndjsonText } from './row-text.ts'

/** What the answers are made from. */
export interface QuerySources {
  readonly calls: CallReader
  readonly history: PastReader
  readonly served: ServedReader
  readonly prices: PricesInForce
}

/** A note on the store, where it cannot be read. */
export interface StoreNote {
  readonly store: string
  readonly note: string
}

/** An answer, ready to be sent. */
export interface AnswerText {
  readonly format: QueryFormat
  /** In UTF-8 where it is bytes. */
  readonly text: string | Uint8Array
  /** Asks for the next page: in JSON it stands in the text too. */
  readonly nextCursor: string | null
}

/**
 * Answers any question; all that it tells of calls is of one instant. Throws `QueryRefusal`, `FoldedRange`,
 * `QueryTooSlow`, and what SQLite throws.
 */
export function answerQuestion(
  sources: QuerySources,
  question: QueryQuestion,
  nowMs: number,
  note: StoreNote | null,
): AnswerText {
  return sources.calls.inOneInstant(() => answerOf(sources, question, nowMs, note))
}

function answerOf(
  { calls, history, served, prices }: QuerySources,
  question: QueryQuestion,
  nowMs: number,
  note: StoreNote | null,
): AnswerText {
  switch (question.kind) {
    case 'list':
      return question.format === 'json'
        ? json(listAnswer(calls, question, nowMs), note)
        : listText(calls, question)
    case 'groups':
      return groupText(calls, question, nowMs, note)
    case 'overview':
      return json(overviewAnswer(calls, history, question, nowMs), note)
    case 'ended':
      return json(endedAnswer(calls, question), note)
    case 'payloads': {
      const text = payloadAnswer(question, calls.call(question.id)?.duration_ms)
      return { format: 'json', text, nextCursor: null }
    }
    case 'recent_payloads':
      return { format: 'json', text: recentPayloadsAnswer(question), nextCursor: null }
    case 'costs':
      return json(costsAnswer(prices, question), null)
    case 'matches':
      return json(matchesAnswer(calls, served, prices.book, question, nowMs), note)
    default:
      return oneCallText(calls, question.id, note)
  }
}

function oneCallText(reader: CallReader, id: number, note: StoreNote | null): AnswerText {
  const call = reader.call(id)
  if (call !== null) return json(call, null)
  const message = `No call ${formatCallId(id)} is recorded.`
  throw new QueryRefusal('call_not_found', note === null ? message : `${message} ${note.note}`, 'id')
}

function json(answer: object, note: StoreNote | null): AnswerText {
  const nextCursor =
    'next_cursor' in answer && typeof answer.next_cursor === 'string' ? answer.next_cursor : null
  return { format: 'json', text: JSON.stringify({ ...answer, ...note }), nextCursor }
}

function listText(reader: CallReader, question: ListQuestion): AnswerText {
  const { calls, next_cursor } = listedCalls(reader, question)
  const names = publicFields.map((field) => field.name)
  const text = question.format === 'csv' ? csvText(calls, names) : ndjsonText(calls)
  return { format: question.format, text, nextCursor: next_cursor }
}

function groupText(
  reader: CallReader,
  question: GroupQuestion,
  nowMs: number,
  note: StoreNote | null,
): AnswerText {
  const answer = groupAnswer(reader, question, nowMs)
  const { format, time, dimension } = question
  if (format === 'json') return json(answer, note)
  if (format === 'ndjson') return { format, text: ndjsonText(answer.groups), nextCursor: null }
  const keys =
    time !== null && dimension !== null ? { keys: { [time]: null, [dimension]: null } } : { key: null }
  return { format, text: csvText(answer.groups, columnsOf({ ...keys, ...emptyFigures })), nextCursor: null }
}
