import type { DatabaseSync } from 'node:sqlite'
import { idsPerMs, startedAtMs } from '../../call/call-id.ts'
import { firstFailedOutcome } from '../../call/fields/call-fields.ts'
import type { CallFilter } from '../../call/call-filter.ts'
import type { FoundSessions, SessionPage, SessionSort } from '../../call/call-session.ts'
import type { CallSession } from '../../call/figures.ts'
import { unpricedSql } from '../../call/unpriced.ts'
import { type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import { RowStatements } from '../sqlite/row-statements.ts'
import { andSql, bothConditions } from './call-condition.ts'
import type { CallList } from './call-list.ts'
import { type CallSelection, selectionCondition, selectionOf } from './call-selection.ts'
import type { CallDictionary } from './call-dictionary.ts'
import { cacheFigures } from './group-figures.ts'

/** An id higher than that of any call. */
const noId = Number.MAX_SAFE_INTEGER
/** Most sessions that are found by name. With more, the calls are searched for their sessions. */
const mostByName = 20_000
/** Compares without case, but only for ASCII letters. */
const isPart = "text LIKE ? ESCAPE '\\'"
const shownModels = 20
/** Rows or sessions between two checks of the deadline. */
const rowsPerCheck = 256
const rowsAtOnce = 1000

/** Most calls of a session. A name with more is not one run, but for example the cache key of an application. */
const mostCalls = 100_000

const sessionSql = `SELECT id, coalesce(duration_us, 0), outcome_id, model_id, client_id, session_source_id,
    coalesce(input_tokens, 0), coalesce(output_tokens, 0), coalesce(cached_input_tokens, 0),
    coalesce(reasoning_tokens, 0), coalesce(tool_calls, 0), cost_nano_usd, ${unpricedSql},
    coalesce(cache_saved_nano_usd, 0)
  FROM calls INDEXED BY calls_by_session WHERE session_id = ? AND id > ? ORDER BY id LIMIT ${rowsAtOnce}`

/** The newest call of a session, by which the session may be left out. */
const tooOldSql = `SELECT id FROM calls INDEXED BY calls_by_session WHERE session_id = ?
  ORDER BY id DESC LIMIT 1 OFFSET ${mostCalls}`

/** The SQL that ranks sessions by a sum of their calls. */
const rankColumns: Readonly<Record<Exclude<SessionSort, 'last_at'>, string>> = {
  calls: 'count(*)',
  tokens: 'nullif(sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)), 0)',
  cost: 'sum(cost_nano_usd)',
  duration: `max(id / ${idsPerMs} * 1000 + coalesce(duration_us, 0)) - min(id) / ${idsPerMs} * 1000`,
}

/** Selects a row for each id of a JSON array, in its order: the value as a float, as a sum can be beyond safe integers. */
function rankSql(sort: keyof typeof rankColumns): string {
  return `SELECT 1.0 * (SELECT ${rankColumns[sort]} FROM (
      SELECT id, duration_us, input_tokens, output_tokens, cost_nano_usd
      FROM calls INDEXED BY calls_by_session WHERE session_id = s.value ORDER BY id DESC LIMIT ${mostCalls}
    )) FROM json_each(?) AS s`
}

type Id = number | null
type Row = readonly [
  ...call: [id: number, durationUs: number, outcome: number, model: Id, client: Id, source: Id],
  ...tokens: [input: number, output: number, cached: number, reasoning: number],
  ...rest: [toolCalls: number, costNanoUsd: Id, isUnpriced: number, savedNanoUsd: number],
]

/** A session with the last of its selected calls. */
type FoundSession = readonly [sessionId: number, callId: number]

type Page = readonly [most: number, beforeId?: number | undefined]

/** Returns a function that finds sessions by their calls, and adds these up. */
export function sessionPages(
  database: DatabaseSync,
  list: CallList,
  words: CallDictionary,
  isOver: IsOver,
): (filter: CallFilter, page: SessionPage) => FoundSessions {
  let rowsSinceCheck = 0
  const statements = new RowStatements(database)
  return page

  /** Returns a page of sessions. Throws `QueryTooSlowError`. */
  function page(
    filter: CallFilter,
    { limit, beforeId, search, sort = 'last_at', rising = false }: SessionPage,
  ): FoundSessions {
    if (sort !== 'last_at' || rising) {
      const sessionIds = ranked(searched(filter, search, Infinity), sort, rising)
      return { sessions: sessionIds.slice(0, limit).map((id) => summaryOf(id)), nextBeforeId: null }
    }
    const matches = searched(filter, search, limit + 1, beforeId)
    const shown = matches.slice(0, limit)
    return {
      sessions: shown.map(([sessionId]) => summaryOf(sessionId)),
      nextBeforeId: matches.length > limit ? (shown.at(-1)?.[1] ?? null) : null,
    }
  }

  /** Searches by whole names first, then by other exact ids and codes, then by parts of names. */
  function searched(filter: CallFilter, search: string | undefined, ...page: Page): readonly FoundSession[] {
    const selection = selectionOf(filter, words)
    if (selection === null) return []
    if (search === undefined) return matching(selection, ...page)
    const sessionIds = words.idsOf('sessions', [search])
    if (sessionIds.size > 0) return matching(withSessions(selection, sessionIds), ...page)
    const exact = selectionOf({ ...filter, exactly: search }, words)
    if (exact !== null) {
      const matches = matching(exact, ...page)
      if (matches.length > 0 || (page[1] !== undefined && matching(exact, 1).length > 0)) return matches
    }
    const like = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    const sql = `SELECT id FROM sessions WHERE ${isPart} LIMIT ${mostByName + 1}`
    const partly = statements.all<readonly [number]>(sql, like)
    if (partly.length <= mostByName)
      return matching(withSessions(selection, new Set(partly.map(([id]) => id))), ...page)
    const isNamed = {
      conditions: [`(SELECT ${isPart} FROM sessions WHERE id = c.session_id)`],
      values: [like],
    }
    return matching({ ...selection, rowCondition: bothConditions(selection.rowCondition, isNamed) }, ...page)
  }

  /** The sessions with the newest calls of a selection. */
  function matching(selection: CallSelection, ...[most, beforeId = noId]: Page): readonly FoundSession[] {
    if (selection.ids.session !== undefined)
      return ofSessions(selection, selection.ids.session, most, beforeId)
    if (most === Infinity) return [...list.sessions({ ...selection, isInSession: true })]
    return newest(selection, most, beforeId)
  }

  /** The ids of sessions in another order than the usual one. */
  function ranked(matches: readonly FoundSession[], sort: SessionSort, rising: boolean): readonly number[] {
    const sign = rising ? 1 : -1
    const ranks = sort === 'last_at' ? matches.map(([, callId]) => callId) : rankValues(sort, matches)
    const entries = matches.map(([sessionId, callId], index) => {
      const value = ranks[index] ?? null
      return { sessionId, callId, rank: value === null ? Infinity : sign * value }
    })
    return entries
      .sort((a, b) => (a.rank === b.rank ? b.callId - a.callId : a.rank - b.rank))
      .map(({ sessionId }) => sessionId)
  }

  /** The value to rank each session by, in one statement: the deadline is checked after each session. */
  function rankValues(sort: keyof typeof rankColumns, matches: readonly FoundSession[]): readonly Id[] {
    const ids = JSON.stringify(matches.map(([sessionId]) => sessionId))
    const values: Id[] = []
    for (const row of statements.get(rankSql(sort)).iterate(ids)) {
      if (isOver()) throw new QueryTooSlowError()
      const [value] = row as unknown as readonly [Id]
      values.push(value)
    }
    return values
  }

  /** Finds sessions by the newest calls, without the calls of sessions found before. */
  function newest(selection: CallSelection, most: number, beforeId: number): readonly FoundSession[] {
    const matches: FoundSession[] = []
    const passedSessions = new Set<number>()
    for (let past = beforeId; matches.length < most;) {
      const isNew = 'c.session_id IS NOT NULL AND c.session_id NOT IN (SELECT value FROM json_each(?))'
      const values = [JSON.stringify([...passedSessions])]
      const rowCondition = bothConditions(selection.rowCondition, { conditions: [isNew], values })
      const limit = 4 * most
      const ids = list.ids({ ...selection, rowCondition, isInSession: true }, { limit, beforeId: past })
      for (const id of ids) {
        const session = statements.number('SELECT session_id FROM calls WHERE id = ?', id)
        if (session === null || passedSessions.has(session)) continue
        passedSessions.add(session)
        // The session was on an earlier page.
        if (beforeId < noId && last(selection, session, beforeId) !== null) continue
        matches.push([session, id])
        if (matches.length === most) break
      }
      if (ids.length < limit) break
      past = ids.at(-1) ?? 0
    }
    return matches
  }

  function ofSessions(
    selection: CallSelection,
    sessions: ReadonlySet<number>,
    most: number,
    beforeId: number,
  ): readonly FoundSession[] {
    return [...sessions]
      .flatMap((session): readonly FoundSession[] => {
        const id = last(selection, session)
        return id === null || id >= beforeId ? [] : [[session, id]]
      })
      .sort(([, a], [, b]) => b - a)
      .slice(0, most)
  }

  /** The last call of a session that a selection includes, from an id on. */
  function last(
    { ids, rowCondition, fromId, pastId }: CallSelection,
    session: number,
    leastId: number = 0,
  ): number | null {
    checkDeadline()
    const { session: _, ...others } = ids
    const condition = selectionCondition({ ids: others, rowCondition, fromId, pastId })
    return statements.number(
      `SELECT c.id FROM calls AS c INDEXED BY calls_by_session
        WHERE c.session_id = ? AND c.id >= ? AND c.id < ?${andSql(condition)} ORDER BY c.id DESC LIMIT 1`,
      session,
      Math.max(fromId, leastId),
      pastId,
      ...condition.values,
    )
  }

  function summaryOf(sessionId: number): CallSession {
    const models = new Map<number, number>()
    let [calls, errors, unpriced, priced] = [0, 0, 0, 0]
    let [input, output, cached, reasoning, tools, costNanoUsd, savedNanoUsd] = [0, 0, 0, 0, 0, 0, 0]
    let [firstMs, lastMs, endMs, inCallsMs] = [0, 0, 0, 0]
    let [source, client]: [Id, Id] = [null, null]
    for (const row of callsOf(sessionId)) {
      const [id, durationUs, outcome, model, clientId, sourceId, ...sums] = row
      const [inputTokens, outputTokens, cachedTokens, reasoningTokens, toolCalls, cost, ...last] = sums
      const [isUnpriced, saved] = last
      const startMs = startedAtMs(id)
      const pastMs = startMs + durationUs / 1000
      if (calls === 0) firstMs = endMs = startMs
      // Calls come in the order of their starts: time before the latest end is counted already.
      inCallsMs += Math.max(0, pastMs - Math.max(startMs, endMs))
      endMs = Math.max(endMs, pastMs)
      lastMs = startMs
      calls++
      if (outcome >= firstFailedOutcome) errors++
      if (model !== null) models.set(model, (models.get(model) ?? 0) + 1)
      client = clientId ?? client
      source = sourceId ?? source
      input += inputTokens
      output += outputTokens
      cached += cachedTokens
      reasoning += reasoningTokens
      tools += toolCalls
      savedNanoUsd += saved
      if (cost !== null) {
        costNanoUsd += cost
        priced++
      } else unpriced += isUnpriced
    }
    const wallMs = endMs - firstMs
    return {
      session: words.wordOf('sessions', sessionId) ?? '',
      session_source: words.wordOf('labels', source),
      client: words.wordOf('clients', client),
      models: [...models]
        .sort(([, a], [, b]) => b - a)
        .slice(0, shownModels)
        .map(([id]) => words.wordOf('models', id) ?? ''),
      first_at: new Date(firstMs).toISOString(),
      last_at: new Date(lastMs).toISOString(),
      calls,
      errors,
      input_tokens: input,
      output_tokens: output,
      cached_input_tokens: cached,
      reasoning_tokens: reasoning,
      tool_calls: tools,
      cost_usd: priced > 0 ? costNanoUsd / 1e9 : null,
      unpriced_calls: unpriced,
      ...cacheFigures({ input, cached, savedNanoUsd, priced }),
      wall_ms: toMicroseconds(wallMs),
      in_calls_ms: toMicroseconds(inCallsMs),
      between_ms: toMicroseconds(wallMs - inCallsMs),
    }
  }

  /** The newest calls of a session, by their starts. Reading a thousand in one statement takes half the time. */
  function* callsOf(sessionId: number): Generator<Row> {
    const first = statements.number(tooOldSql, sessionId) ?? -1
    for (let [afterId, count] = [first, rowsAtOnce]; count === rowsAtOnce;) {
      const rows = statements.all<Row>(sessionSql, sessionId, afterId)
      yield* rows
      count = rows.length
      afterId = rows.at(-1)?.[0] ?? afterId
      checkDeadline(count)
    }
  }

  function checkDeadline(rows: number = 1): void {
    rowsSinceCheck += rows
    if (rowsSinceCheck < rowsPerCheck) return
    rowsSinceCheck = 0
    if (isOver()) throw new QueryTooSlowError()
  }
}

function withSessions(selection: CallSelection, sessions: ReadonlySet<number>): CallSelection {
  const { session: askedSessions = sessions } = selection.ids
  const ids = { ...selection.ids, session: askedSessions.intersection(sessions) }
  return { ...selection, ids, index: 'calls_by_session' }
}

/** Rounds milliseconds to microseconds, because sums in floating point have more digits than were measured. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
