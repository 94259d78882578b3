import type { Sessions } from '../api/sessions.ts'
import { sessionFields } from '../call/call-session.ts'
import type { CallJson } from '../call/call-record.ts'
import type { CallReader, StoreReader } from '../call/call-reader.ts'
import { formatCallId } from '../call/call-id.ts'
import { publicFields } from '../store/sqlite/calls-readable.ts'
import type { PriceBook } from '../pricing/price-book.ts'
import type { PricesInForce } from '../pricing/prices-in-force.ts'
import { emptyFigures } from '../store/read/group-figures.ts'
import { alertsAnswer } from './alerts-answer.ts'
import { groupAnswer } from './group-answer.ts'
import type { CallGroups } from '../api/calls.ts'
import type { SingleCall } from '../api/single-call.ts'
import { listAnswer, listedCalls } from './list-answer.ts'
import { costsAnswer, matchesAnswer } from './costs-answer.ts'
import { sessionsAnswer } from './sessions-answer.ts'
import { slotsAnswer } from './slots-answer.ts'
import { overviewAnswer } from './overview-answer.ts'
import { payloadAnswer, recentPayloadsAnswer } from './payload-answer.ts'
import {
  type EndedQuestion,
  type GroupQuestion,
  type ListQuestion,
  QueryError,
  type QueryFormat,
  type QueryQuestion,
  type SessionsQuestion,
} from './query-question.ts'
import { columnsOf, csvText, ndjsonText } from './row-text.ts'

/** The sources of the answers. */
export interface QuerySources {
  readonly store: StoreReader
  /** Why nothing can be read; null if it can. */
  readonly note: StoreNote | null
  readonly prices: PricesInForce
}

interface StoreNote {
  readonly store: string
  readonly note: string
}

/** Most calls of an answer. A page cannot show more, and a slow reader must not fall further behind. */
const mostAtOnce = 100
/** Time limit for counting calls by client, newest first. */
const countingClientsMs = 1000

/** Calls that ended since the last question, newest last. */
export interface EndedAnswer {
  readonly calls: readonly CallJson[]
  /** Number of calls that ended before these and are left out. */
  readonly skipped: number
  /** Passed as `afterSeq` the next time. */
  readonly last_seq: number
}

/** The text of an answer. */
export interface AnswerText {
  readonly format: QueryFormat
  /** The answer; bytes are UTF-8. */
  readonly text: string | Uint8Array
  /** Cursor of the next page; null without one. In JSON, the text has it, too. */
  readonly nextCursor: string | null
}

/**
 * Answers any question, from one snapshot of the database. Rejects with `QueryError`, `FoldedRangeError`, `QueryTooSlowError`,
 * and what SQLite throws.
 */
export function answerQuestion(
  sources: QuerySources,
  question: QueryQuestion,
  nowMs: number,
): Promise<AnswerText> {
  return sources.store.inReadTransaction(() => answerOf(sources, question, nowMs))
}

async function answerOf(
  { store, prices, note }: QuerySources,
  question: QueryQuestion,
  nowMs: number,
): Promise<AnswerText> {
  switch (question.kind) {
    case 'list':
      return question.format === 'json'
        ? json(await listAnswer(store, question, nowMs), note)
        : listText(store, question)
    case 'groups':
      return groupText(await groupAnswer(store, question, nowMs), question, note)
    case 'overview':
      return json(await overviewAnswer(store, question, nowMs), note)
    case 'slots':
      return json(await slotsAnswer(store, question, nowMs), note)
    case 'sessions':
      return sessionsText(await sessionsAnswer(store, question), question, note)
    case 'ended':
      return json(await endedAnswer(store, question), note)
    case 'payloads': {
      const text = payloadAnswer(question, (await store.call(question.id))?.duration_ms)
      return { format: 'json', text, nextCursor: null }
    }
    case 'recent_payloads':
      return { format: 'json', text: recentPayloadsAnswer(question), nextCursor: null }
    case 'costs':
      return json(costsAnswer(prices, question), null)
    case 'matches':
      return json(await matchesAnswer(store, prices.book, question, nowMs), note)
    case 'clients': {
      const { fromMs, clients } = await store.seenClients(question.fromMs, nowMs, countingClientsMs)
      return json({ clients, counted_from: new Date(fromMs).toISOString() }, null)
    }
    case 'growth':
      return json(await store.growth(question.fromMs), null)
    case 'alerts':
      return json(await alertsAnswer(store, question, nowMs), note)
    default:
      return oneCallText(store, prices.book, question.id, note)
  }
}

/** Calls that were written after `afterSeq`. If that is null, only the number with which to begin. */
async function endedAnswer(reader: CallReader, { afterSeq }: EndedQuestion): Promise<EndedAnswer> {
  const lastSeq = await reader.lastSeq()
  // A lower number than before means a new database, all of whose calls are new.
  if (afterSeq === null) return { calls: [], skipped: 0, last_seq: lastSeq }
  const since = afterSeq > lastSeq ? 0 : afterSeq
  const from = Math.max(since, lastSeq - mostAtOnce)
  const { calls, lastSeq: reached } = await reader.endedSince(from, {}, mostAtOnce)
  return { calls, skipped: from - since, last_seq: Math.max(reached, lastSeq) }
}

async function oneCallText(
  reader: CallReader,
  book: PriceBook,
  id: number,
  note: StoreNote | null,
): Promise<AnswerText> {
  const call = await reader.call(id)
  if (call !== null) return json({ ...call, cost_parts: book.partsOf(call) } satisfies SingleCall, null)
  const message = `No call ${formatCallId(id)} is recorded.`
  const text = note === null ? message : `${message} ${note.note}`
  throw new QueryError('call_not_found', text, { param: 'id' })
}

function json(answer: object, note: StoreNote | null): AnswerText {
  const nextCursor =
    'next_cursor' in answer && typeof answer.next_cursor === 'string' ? answer.next_cursor : null
  return { format: 'json', text: JSON.stringify({ ...answer, ...note }), nextCursor }
}

async function listText(reader: CallReader, question: ListQuestion): Promise<AnswerText> {
  const { calls, next_cursor } = await listedCalls(reader, question)
  const names = publicFields.map((field) => field.name)
  const text = question.format === 'csv' ? csvText(calls, names) : ndjsonText(calls)
  return { format: question.format, text, nextCursor: next_cursor }
}

function sessionsText(answer: Sessions, { format }: SessionsQuestion, note: StoreNote | null): AnswerText {
  if (format === 'json') return json(answer, note)
  const rows = answer.sessions.map((session) => ({ ...session, models: session.models.join(', ') }))
  const text = format === 'csv' ? csvText(rows, sessionFields) : ndjsonText(answer.sessions)
  return { format, text, nextCursor: answer.next_cursor }
}

function groupText(
  answer: CallGroups,
  { format, time, dimension }: GroupQuestion,
  note: StoreNote | null,
): AnswerText {
  if (format === 'json') return json(answer, note)
  if (format === 'ndjson') return { format, text: ndjsonText(answer.groups), nextCursor: null }
  const keys =
    time !== null && dimension !== null ? { keys: { [time]: null, [dimension]: null } } : { key: null }
  return { format, text: csvText(answer.groups, columnsOf({ ...keys, ...emptyFigures })), nextCursor: null }
}
