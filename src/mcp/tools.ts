import { parseCallId } from '../call/call-id.ts'
import type { CallJson } from '../call/call-record.ts'
import type { CallDimension } from '../call/call-question.ts'
import type { CallTotals } from '../call/figures.ts'
import { type QueryOf, type QueryTable, meaning, or } from '../dashboard/http/query-parameters.ts'
import {
  type CallsQuery,
  callsQuestion,
  callsTable,
  groupBy,
  instantOf,
} from '../dashboard/routes/query-request.ts'
import { ZonedTime, ownTimeZone } from '../lib/zoned-time.ts'
import { integer, oneOf, timeZone } from '../options/value-kind.ts'
import type { CallGroups, QueryGroup, CallList } from '../api/calls.ts'
import type { QueryQuestion } from '../query/query-question.ts'
import type { sessionsAnswer } from '../query/sessions-answer.ts'
import { partOf, recordedText, roomFor } from './recorded-text.ts'

/** The sources of the tools' answers. */
export interface ToolSources {
  /** Answers a question as the dashboard would. Rejects with a message for people if there is no answer. */
  readonly ask: <Answer>(question: QueryQuestion) => Promise<Answer>
  /** The gateway's process and its calls, as far as known. */
  readonly gateway: () => Promise<object>
  /** The path of the raw log, and whether payloads are logged now; null if no gateway answers. */
  readonly payloads: () => Promise<{ readonly logging: boolean | null; readonly filePath: string }>
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/** The parameters of a tool, by name. */
export type ToolTable = QueryTable<Readonly<Record<string, unknown>>>

/** A tool of the MCP server. */
export interface Tool {
  readonly description: string
  readonly parameters: ToolTable
  /** Answers a call of the tool. `query` has the values of `parameters`. */
  readonly answer: (query: never, sources: ToolSources) => Promise<string>
}

function tool<T>(
  description: string,
  parameters: T & QueryTable<QueryOf<T>>,
  answer: (query: QueryOf<T>, sources: ToolSources) => Promise<string>,
): Tool {
  return { description, parameters, answer }
}

const dayMs = 86_400_000
const periods = ['today', 'yesterday', '24h', '7d', '30d', 'all'] as const

/** A range of time. */
const range = {
  period: meaning('unless from or to is given', or(oneOf(periods), 'today')),
  from: callsTable.from,
  to: callsTable.to,
  tz: meaning('where days begin', or(timeZone, ownTimeZone())),
}
/** Parameters of a range, and the most used filters. */
const some = { ...range, model: callsTable.model, client: callsTable.client }

const { group_by: _, format: __, ...listTable } = callsTable

const callId = meaning('as list_calls tells it', {
  range: 'the eleven characters of a call’s id',
  parse: (text: string) => parseCallId(text) ?? undefined,
})

/** All parameters as null, for those that a tool lacks. */
const noParameters = Object.fromEntries(
  Object.keys(callsTable).map((name) => [name, null]),
) as unknown as CallsQuery
const plain: CallsQuery = { ...noParameters, errors_only: false, format: 'json' }

/** All tools but the one for payloads, by their names. */
export const tools: Readonly<Record<string, Tool>> = {
  usage_summary: tool(
    'Usage and spend: calls, failures, tokens, cost in USD and latency, in all and by model. Default: today.',
    some,
    async (query, sources) => {
      const { range, summary, groups } = await answerTo<CallGroups>(query, sources, by('model'))
      const latency = { duration_ms: summary.duration_ms, first_token_ms: summary.ttft_ms }
      return recordedText(
        { ...range, total: { ...sumsOf(summary), ...latency } },
        costliest(groups).map(withKey),
      )
    },
  ),
  spend_by: tool(
    'Calls, failures, tokens and cost in USD by a key: model, client, day, hour, endpoint, … or day,model. Default: today.',
    { by: groupBy, ...some },
    async ({ by: group_by, ...filters }, sources) => {
      const { range, summary, groups } = await answerTo<CallGroups>(filters, sources, { group_by })
      const rows = group_by.time === null ? costliest(groups) : groups.filter(({ calls }) => calls > 0)
      return recordedText({ ...range, total: sumsOf(summary) }, rows.map(withKey))
    },
  ),
  list_sessions: tool(
    'Sessions (runs of an agent) with a call in a range, the latest first, each as a whole: when, how many calls, tokens, cost in USD and time. Default: today. `cursor` returns the next page.',
    { ...some, cursor: callsTable.cursor, limit: meaning('sessions', or(integer(1, 100), 20)) },
    async ({ cursor, limit: most, ...filters }, sources) =>
      pageText(most, async (limit) => {
        const page = { limit, ...(cursor !== null && { beforeId: cursor }) }
        const { range, sessions, next_cursor } = await answerTo<Awaited<ReturnType<typeof sessionsAnswer>>>(
          filters,
          sources,
          {},
          (query) => ({
            kind: 'sessions',
            filter: callsQuestion(query).filter,
            page,
            format: 'json',
          }),
        )
        return [{ ...range, next_cursor }, sessions]
      }),
  ),
  list_calls: tool(
    'Calls, the newest first, or the 100 longest or dearest (sort). Default: today. `cursor` returns the next page.',
    { ...listTable, ...range, limit: meaning('calls', or(integer(1, 100), 20)) },
    async (query, sources) => {
      const page = async (limit: number) => {
        const { range, calls, summary, next_cursor } = await answerTo<CallList>(query, sources, { limit })
        return [{ ...range, total: sumsOf(summary), next_cursor }, calls.map(inShort)] as const
      }
      return pageText(query.limit, page, (query.sort ?? 'started_at') === 'started_at' && !query.rising)
    },
  ),
  get_call: tool(
    'All that was recorded of one call: times in ms, tokens, cost, how it ended.',
    { id: callId },
    async ({ id }, { ask }) => recordedText(await ask<CallJson>({ kind: 'call', id })),
  ),
  failures: tool(
    'What went wrong: failed calls by their code, and the newest of them with their messages. Default: today.',
    some,
    async (query, sources) => {
      const { range, summary, groups } = await answerTo<CallGroups>(query, sources, by('failure_code'))
      const newest = await answerTo<CallList>(query, sources, { errors_only: true, limit: 15 })
      const codes = groups.map((group) => Object.assign(keyOf(group), { calls: group.calls }))
      const { calls, errors, error_rate } = summary
      return recordedText({ ...range, calls, errors, error_rate, codes }, newest.calls.map(inShort))
    },
  ),
  gateway_status: tool(
    'How the gateway is now: whether it runs, its upstream, slots, queue, token budget, warnings, and the calls under way.',
    {},
    async (_asked, { gateway }) => {
      const status = Object.entries(await gateway())
      const lists = status.filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
      // The shortest list first, because the others may not fit: few warnings, many calls.
      const rows = lists
        .toSorted(([, a], [, b]) => a.length - b.length)
        .flatMap(([name, items]) => items.map((item) => ({ [name]: item })))
      return recordedText(Object.fromEntries(status.filter(([, value]) => !Array.isArray(value))), rows)
    },
  ),
}

/** The tool that shows requests and answers of calls. */
export const payloadTools: Readonly<Record<string, Tool>> = {
  get_payloads: tool(
    'What a call asked, or was answered, if payloads were kept: headers and body, and the text put together from a stream.',
    {
      id: callId,
      part: or(oneOf(['request', 'answer']), 'answer'),
      offset: meaning('where to go on: next_offset', or(integer(0, Number.MAX_SAFE_INTEGER), 0)),
    },
    async ({ id, part, offset }, sources) => {
      const { filePath, logging } = await sources.payloads()
      const payloads = await sources.ask<PayloadsAnswer>({ kind: 'payloads', id, filePath, logging })
      const { [part]: record, reason } = payloads
      if (record === null) return recordedText({ part, kept: false, reason, logging })
      const { body, text, chunks: _chunks, ...about } = record
      // For a stream, the text replaces the events.
      const content = text === undefined || text === null ? { body } : { text }
      return partOf(JSON.stringify({ ...about, ...content }), offset, { part })
    },
  ),
}

interface PayloadsAnswer {
  readonly request: Readonly<Record<string, unknown>> | null
  readonly answer: Readonly<Record<string, unknown>> | null
  readonly reason: string | null
}

/** The answer of a tool to a question; it begins with the range. */
async function answerTo<Answer>(
  { period, from, to, tz, ...filters }: Partial<CallsQuery> & QueryOf<typeof range>,
  { ask, now }: ToolSources,
  more: Partial<CallsQuery>,
  questionOf: (query: CallsQuery) => QueryQuestion = callsQuestion,
): Promise<Answer & { readonly range: object }> {
  const nowMs = now()
  const isGiven = from !== null || to !== null
  const [first, past] = isGiven ? [null, null] : spanOf(period, nowMs, new ZonedTime(tz))
  const at = (ms: number | null) => (ms === null ? null : { ms, isLocal: false })
  const query = { ...plain, ...filters, ...more, tz, from: from ?? at(first), to: to ?? at(past) }
  const iso = (time: CallsQuery['from']) =>
    time === null ? null : new Date(instantOf(time, tz)).toISOString()
  const answer = await ask<Answer & { readonly note?: string; readonly resolution?: '1h' }>(questionOf(query))
  const { note, resolution } = answer
  const range = { period: isGiven ? null : period, from: iso(query.from), to: iso(query.to) }
  return { ...answer, range: { now: iso(at(nowMs)), tz, ...range, note, resolution } }
}

/**
 * The text of a page of at most `limit` rows. If they are too long, the page is asked for again with fewer, because the
 * cursor of the first one would pass over the rows that are left out.
 */
async function pageText(
  limit: number,
  page: (limit: number) => Promise<readonly [facts: object, rows: readonly object[]]>,
  hasCursor = true,
): Promise<string> {
  const [facts, rows] = await page(limit)
  const room = hasCursor ? roomFor(facts, rows) : 0
  return room === rows.length || room === 0 ? recordedText(facts, rows) : pageText(room, page)
}

/** Start and exclusive end of a range; null for no bound. */
function spanOf(
  period: (typeof periods)[number],
  nowMs: number,
  zone: ZonedTime,
): readonly [number | null, number | null] {
  const today = zone.startOf('day', nowMs)
  switch (period) {
    case 'today':
      return [today, null]
    case 'yesterday':
      return [zone.startOf('day', today - 1), today]
    case 'all':
      return [null, null]
    default:
      return [nowMs - dayMs * { '24h': 1, '7d': 7, '30d': 30 }[period], null]
  }
}

function by(dimension: CallDimension): Partial<CallsQuery> {
  return { group_by: { time: null, dimension } }
}

function costliest(groups: readonly QueryGroup[]): readonly QueryGroup[] {
  return groups.toSorted((a, b) => (b.cost_usd ?? -1) - (a.cost_usd ?? -1) || b.total_tokens - a.total_tokens)
}

function keyOf(group: QueryGroup): object {
  return 'keys' in group ? group.keys : { key: group.key ?? 'unknown' }
}

function withKey(group: QueryGroup): object {
  return { ...keyOf(group), ...sumsOf(group) }
}

/** The sums of figures, without zeros and nulls. */
function sumsOf({ calls, ...figures }: CallTotals): object {
  const sums = Object.entries(figures).filter(
    ([name, value]) => typeof value === 'number' && value !== 0 && !omittedFields.has(name),
  )
  return { calls, ...Object.fromEntries(sums) }
}

const omittedFields = new Set(['error_rate', 'total_tokens', 'key'])

/** The fields of a call in a list. */
function inShort(call: CallJson): object {
  return Object.fromEntries(shortFields.map((name) => [name, call[name]]))
}

const shortFields = (
  'id started_at model client session outcome status failure_code error_message ' +
  'duration_ms ttft_total_ms queue_ms input_tokens output_tokens cost_usd'
).split(' ') as readonly (keyof CallJson)[]
