import { firstIdAt, idsPerMs, startedAtMs } from '../../call/call-id.ts'
import { type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** Slices get wider if their work takes less than `shortMs`, and narrower if more than `longMs`. */
const slice = { shortMs: 4, longMs: 12, firstIds: 15 * 60_000 * idsPerMs, leastIds: 1000 * idsPerMs } as const

/** Narrows a range of ids to its calls; the result may be empty. */
export function idsWithCalls(
  statements: RowStatements,
  fromId: number,
  pastId: number,
): readonly [fromId: number, pastId: number] {
  const [lowest, highest] =
    statements.first('SELECT (SELECT min(id) FROM calls), (SELECT max(id) FROM calls)') ?? []
  return [Math.max(lowest ?? 0, fromId), Math.min((highest ?? -1) + 1, pastId)]
}

/**
 * Cuts a range of ids into pieces that each take some milliseconds to read, however many calls they have.
 * Throws `QueryTooSlowError` between two pieces.
 */
export function* idSlices(
  fromId: number,
  pastId: number,
  { newestFirst = false, isOver }: { readonly newestFirst?: boolean; readonly isOver: IsOver },
): Generator<readonly [fromId: number, pastId: number]> {
  let width: number = slice.firstIds
  let done = 0
  const length = pastId - fromId
  while (done < length) {
    if (isOver()) throw new QueryTooSlowError()
    const next = Math.min(length, done + width)
    const startedMs = performance.now()
    yield newestFirst ? [pastId - next, pastId - done] : [fromId + done, fromId + next]
    const tookMs = performance.now() - startedMs
    if (tookMs < slice.shortMs) width *= 2
    else if (tookMs > slice.longMs) width = Math.max(slice.leastIds, Math.floor(width / 2))
    done = next
  }
}

/** The time range of calls to count (ms since the Unix epoch), and roughly how long counting may take (ms). */
export interface CountingBounds {
  readonly fromMs: number
  readonly toMs: number
  readonly withinMs: number
}

/**
 * Reads pieces of a time range, the newest first, until `read` has enough or the time is over. Returns the
 * instant from which on all calls were read (ms since the Unix epoch). Throws `QueryTooSlowError`.
 */
export function readNewestFirst(
  { fromMs, toMs, withinMs }: CountingBounds,
  isOver: IsOver,
  read: (fromId: number, pastId: number) => boolean | void,
): number {
  const untilMs = performance.now() + withinMs
  for (const [fromId, pastId] of idSlices(firstIdAt(fromMs), firstIdAt(toMs), { newestFirst: true, isOver }))
    if (read(fromId, pastId) === true || performance.now() >= untilMs)
      return Math.max(fromMs, startedAtMs(fromId))
  return fromMs
}
