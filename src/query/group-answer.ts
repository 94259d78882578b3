import type { CallGroups, QueryGroup, AnsweredSums } from '../api/calls.ts'
import {
  type CallAnswer,
  type CallDimension,
  type CallGroup,
  type CallQuestion,
  callMeasures,
} from '../call/call-question.ts'
import type { CallReader } from '../call/call-reader.ts'
import { ZonedTime, type ZonedUnit } from '../lib/zoned-time.ts'
import { type AskedRange, rangeOf } from './asked-range.ts'
import { emptyFigures } from '../store/read/group-figures.ts'
import { frameOf, recordedFrom } from './list-answer.ts'
import {
  type GroupQuestion,
  maxGroups,
  mostEntries,
  topEntries,
  topSessions,
  QueryError,
} from './query-question.ts'

/** The key of the rest, which also has `rest: true`: values beyond the first 500, beside a time 20, or 100 sessions. */
const restKey = 'other'
/**
 * Longest range of groups by session: sums have no sessions, so each call is read. A week may have an
 * additional hour.
 */
const mostSessionsMs = (7 * 24 + 1) * 3_600_000

/** Figures by time, by a dimension, or by both. */
export async function groupAnswer(
  reader: CallReader,
  question: GroupQuestion,
  nowMs: number,
): Promise<CallGroups> {
  const { filter, time, dimension } = question
  const range = await rangeOf(filter, reader, nowMs)
  const { groups, summary } =
    range === null ? { groups: [], summary: emptyFigures } : await groupsOf(reader, question, range)
  if (groups.length > maxGroups) throw tooMany(time, dimension)
  const isSumsOnly = question.measures === 'none'
  return {
    group_by: [time, dimension].filter((key) => key !== null).join(','),
    groups: isSumsOnly ? groups.map((group) => sumsOf(group)) : groups,
    summary: isSumsOnly ? sumsOf(summary) : summary,
    recorded_from: await recordedFrom(reader),
    ...(await frameOf(reader, range?.fromMs)),
  }
}

async function groupsOf(
  reader: CallReader,
  { filter, time, dimension, timeZone, measures }: GroupQuestion,
  range: AskedRange,
): Promise<Pick<CallGroups, 'groups' | 'summary'>> {
  const ask = (rest: Omit<CallQuestion, 'filter'>): Promise<CallAnswer> =>
    reader.aggregate({
      filter,
      ...rest,
      ...(measures === 'none' && { isSumsOnly: true }),
      ...(measures === 'curves' && { withCurves: true }),
    })
  const isOfSessions = dimension === 'session'
  // All failure codes are shown, because they are few, also beside a time.
  const most = time === null || dimension === 'failure_code' ? mostEntries : topEntries
  const top = isOfSessions ? topSessions : most
  if (isOfSessions && range.toMs - range.fromMs > mostSessionsMs) {
    const message = `group_by=${dimension} reaches over seven days at most, as each call is read; ask for a shorter range.`
    throw new QueryError('too_many_groups', message, { param: 'from' })
  }
  if (time === null) {
    const edgesMs = [range.fromMs, range.toMs]
    const { groups, summary } = await ask({ edgesMs, dimension, top })
    return {
      groups: groups.map((group) => {
        const { value, isRest } = group
        return Object.assign(
          isRest ? { key: restKey, rest: true as const } : { key: value },
          figuresOf(group),
        )
      }),
      summary,
    }
  }
  const zone = new ZonedTime(timeZone)
  const starts = zone.edges(time, range.fromMs, range.toMs, maxGroups)
  if ((starts.at(-1) ?? 0) < range.toMs) throw tooMany(time, dimension)
  const edgesMs = [range.fromMs, ...starts.slice(1, -1), range.toMs]
  const keys = starts.slice(0, -1).map((start) => zone.key(time, start))
  if (dimension === null) {
    const { groups, summary } = await ask({ edgesMs, dimension })
    return { groups: withEmpty(groups, keys), summary }
  }
  const { groups, summary } = await ask({ edgesMs, dimension, top })
  return {
    groups: groups.map((group) => {
      const { bucket, value, isRest } = group
      const names = { [time]: keys[bucket] ?? null, [dimension]: isRest ? restKey : value }
      return Object.assign({ keys: names }, isRest && { rest: true as const }, figuresOf(group))
    }),
    summary,
  }
}

function figuresOf({ figures, curves }: CallGroup): AnsweredSums {
  return curves === undefined ? figures : { ...figures, curves }
}

/** An answer without times and speeds. */
function sumsOf<Answer extends object>(answer: Answer): Answer {
  const entries = Object.entries(answer).filter(
    ([name]) => !(callMeasures as readonly string[]).includes(name),
  )
  return Object.fromEntries(entries) as Answer
}

/** Groups with additional empty ones: buckets without calls, from the first bucket with a call. */
function withEmpty(groups: readonly CallGroup[], keys: readonly string[]): readonly QueryGroup[] {
  const figures = new Map(groups.map((group) => [group.bucket, figuresOf(group)]))
  const first = groups[0]?.bucket
  if (first === undefined) return []
  return keys
    .slice(first)
    .map((key, index) => Object.assign({ key }, figures.get(first + index) ?? emptyFigures))
}

const coarser: Readonly<Record<ZonedUnit, string>> = {
  minute: 'group_by=hour or a shorter range',
  hour: 'group_by=day or a shorter range',
  day: 'a shorter range',
}

function tooMany(time: ZonedUnit | null, dimension: CallDimension | null): QueryError {
  const advice = time === null ? `a filter by ${dimension ?? 'model'} or a shorter range` : coarser[time]
  const message = `This would be over ${maxGroups} groups; ask for ${advice}.`
  return new QueryError('too_many_groups', message, { param: 'group_by' })
}
