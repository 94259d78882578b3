import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { MinuteSpan, SlotUse } from '../call/call-reader.ts'
import { gatewayGaps } from './gateway-gaps.ts'
import { draws } from '../../test/support/draws.ts'

const most = 60

/** A store of gateways that ran in these minutes. */
function historyOf(ran: ReadonlySet<number>): Parameters<typeof gatewayGaps>[0] {
  const minutes = [...ran].toSorted((a, b) => a - b)
  return {
    ranBefore: async (minute) => minutes.some((each) => each < minute),
    missingMinutes: async ([from, past]) =>
      minutes
        .filter((minute) => minute >= from && minute < past)
        .flatMap((minute, index, within): MinuteSpan[] => {
          const before = within[index - 1] ?? minute - 1
          return minute - before > 1 ? [[before + 1, minute]] : []
        }),
  }
}

function useOf(ran: ReadonlySet<number>, [from, past]: MinuteSpan, isOne: boolean): SlotUse {
  const minutesRun = [...ran].filter((minute) => minute >= from && minute < past)
  const [firstMinute, lastMinute] =
    minutesRun.length === 0 ? [0, 0] : [Math.min(...minutesRun), Math.max(...minutesRun)]
  const minutes = isOne ? minutesRun.length : minutesRun.length * 2
  return { minutes, activeMax: 0, queuedMax: 0, atLimitMs: 0, firstMinute, lastMinute, isOne }
}

test('every minute in which no gateway ran is in one span, however the range is divided', async () => {
  const minute = fc.integer({ min: 0, max: most })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(minute, { maxLength: 40, size: 'max' }),
      fc.uniqueArray(minute, { minLength: 2, maxLength: 8, size: 'max' }),
      minute,
      fc.boolean(),
      async (list, some, nowMinute, isOne) => {
        const ran = new Set(list.filter((each) => each < nowMinute))
        const edges = some.toSorted((a, b) => a - b)
        const range = [edges[0]!, edges.at(-1)!] as const
        const use = edges.slice(1).map((past, index) => useOf(ran, [edges[index]!, past], isOne))
        const gaps = await gatewayGaps(historyOf(ran), use, 60, range, nowMinute)
        const lastRan = Math.max(-1, ...ran)
        const isMissing = (at: number): boolean =>
          !ran.has(at) && at < nowMinute && [...ran].some((each) => each < at)
        const isToldYet = Math.max(lastRan + 1, range[0]) < nowMinute - 1
        const expected = Array.from({ length: most }, (_, at) => at).filter(
          (at) => at >= range[0] && at < range[1] && isMissing(at) && (at < lastRan || isToldYet),
        )
        const gapMinutes = gaps.flatMap(([from, past]) =>
          Array.from({ length: past - from }, (_, i) => from + i),
        )
        assert.deepEqual(gapMinutes, expected)
        assert.ok(gaps.every(([from], index) => index === 0 || from > gaps[index - 1]![1]))
      },
    ),
    { numRuns: draws(500) },
  )
})

test('within long buckets only gaps that can be seen are looked for', async () => {
  const day = 1440
  const gapsOf = (missing: number): Promise<readonly MinuteSpan[]> => {
    const ran = new Set(
      Array.from({ length: day }, (_, at) => at).filter((at) => at < 9 || at >= 9 + missing),
    )
    const use = [useOf(ran, [0, day], true)]
    return gatewayGaps(historyOf(ran), use, day, [0, day], day)
  }
  assert.deepEqual([await gapsOf(59), await gapsOf(60)], [[], [[9, 69]]])
})
