import type { CallList, QueryFrame } from '../api/calls.ts'
import type { CallFilter } from '../call/call-filter.ts'
import type { CallPage, CallReader } from '../call/call-reader.ts'
import type { GroupFigures } from '../call/figures.ts'
import { type AskedRange, rangeOf } from './asked-range.ts'
import { emptyFigures } from '../store/read/group-figures.ts'
import type { ListQuestion } from './query-question.ts'

/** A list of calls, with a summary of all calls of the filter. */
export async function listAnswer(
  reader: CallReader,
  question: ListQuestion,
  nowMs: number,
): Promise<CallList> {
  const { calls, next_cursor } = await listedCalls(reader, question)
  const { filter, limit } = question
  const range = await rangeOf(filter, reader, nowMs)
  const summary = await summaryOf(reader, filter, range)
  const frame = await frameOf(reader, range?.fromMs)
  return { calls, count: calls.length, limit, next_cursor, summary, ...frame }
}

/** Only the calls, for CSV and NDJSON. */
export async function listedCalls(
  reader: CallReader,
  question: ListQuestion,
): Promise<Pick<CallList, 'calls' | 'next_cursor'>> {
  const { filter, limit } = question
  const matches = await reader.list(filter, pageOf(question))
  const calls = matches.slice(0, limit)
  const hasMore = matches.length > limit
  return { calls, next_cursor: hasMore ? (calls.at(-1)?.id ?? null) : null }
}

async function summaryOf(
  reader: CallReader,
  filter: CallFilter,
  range: AskedRange | null,
): Promise<GroupFigures> {
  if (range === null) return emptyFigures
  const edgesMs = [range.fromMs, range.toMs]
  return (await reader.aggregate({ filter, edgesMs, dimension: null })).summary
}

/** Fields of every answer; `fromMs` is the start of its range. */
export async function frameOf(
  reader: CallReader,
  fromMs: number | undefined,
): Promise<Omit<QueryFrame, 'summary'>> {
  const { models, types } = await reader.choices()
  const foldedUntilMs = await reader.foldedUntilMs()
  const isFolded = foldedUntilMs !== null && fromMs !== undefined && fromMs < foldedUntilMs
  return {
    available_models: models,
    available_types: types,
    ...(isFolded ? { resolution: '1h' } : {}),
  }
}

/** Start of the first call ever recorded: ISO 8601, UTC; null without a call. */
export async function recordedFrom(reader: CallReader): Promise<string | null> {
  const extent = await reader.extent()
  return extent === null ? null : new Date(extent.firstMs).toISOString()
}

/** The page to read, with one call more than shown, so that another page is known to follow. */
function pageOf({ limit, beforeId, sort, rising }: ListQuestion): CallPage {
  return sort === 'started_at' && !rising
    ? { limit: limit + 1, ...(beforeId === null ? {} : { beforeId }) }
    : { limit, sort, rising }
}
