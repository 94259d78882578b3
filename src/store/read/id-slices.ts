import { idsPerMs } from '../../call/call-id.ts'
import { type IsOver, QueryTooSlowError } from '../../call/no-answer.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** A slice is made wider below, and narrower above so many milliseconds of work. */
const slice = { shortMs: 4, longMs: 12, firstIds: 15 * 60_000 * idsPerMs, leastIds: 1000 * idsPerMs } as const

/** A range of ids, as far as there are calls; `null` if there are none in it. */
export function idsWithCalls(
  statements: RowStatements,
  fromId: number,
  pastId: number,
): readonly [fromId: number, pastId: number] | null {
  const [lowest, highest] =
    statements.first('SELECT (SELECT min(id) FROM calls), (SELECT max(id) FROM calls)') ?? []
  const from = Math.max(lowest ?? 0, fromId)
  const past = Math.min((highest ?? -1) + 1, pastId)
  return from < past ? [from, past] : null
}

/**
 * Cuts a range of ids into pieces that each take some milliseconds to work through, however close the calls lie:
 * between two of them the question may end. Throws `QueryTooSlowError` there.
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
