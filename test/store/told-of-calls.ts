import assert from 'node:assert/strict'
import { idsPerMs, startedAtMs } from '../../src/call/call-id.ts'
import type { CallAnswer } from '../../src/call/call-question.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import { openCallReader } from '../../src/store/read/call-query.ts'
import { assertFigures, entryOf } from '../dashboard/query-reference.ts'
import { chatCall } from './sample-call.ts'

const hourMs = 3_600_000
export const dayMs: number = 24 * 3_600_000

const types = ['chat', 'chat', 'embedding'] as const
const outcomes = ['ok', 'ok', 'ok', 'ok', 'upstream_error', 'client_disconnected'] as const
const models = ['a', 'b', 'c', null] as const

/** One of many calls that differ in all that the rollups tell apart. */
export function variedCall(atMs: number, index: number, random: () => number): CallRecord {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const outcome = pick(outcomes)
  return {
    ...chatCall(atMs * idsPerMs + (index % idsPerMs)),
    callType: pick(types),
    model: pick(models),
    outcome,
    failureCode: outcome === 'upstream_error' ? 'upstream_http' : null,
    durationMs: Math.floor(1 + 20_000 * random() ** 4),
    inputTokens: Math.floor(random() * 5000),
  }
}

const dimensions = ['call_type', 'model', 'outcome'] as const

/**
 * Asserts that the database tells exactly what the calls say, in days and in hours, by type, model and outcome;
 * percentiles within 1%.
 */
export async function assertTold(
  dbPath: string,
  calls: readonly CallRecord[],
  fromMs: number,
  toMs: number,
): Promise<void> {
  const days = Array.from(
    { length: Math.round((toMs - fromMs) / dayMs) + 1 },
    (_, day) => fromMs + day * dayMs,
  )
  const hours = Array.from({ length: 97 }, (_, hour) => fromMs + hour * hourMs)
  const reader = openCallReader(dbPath)
  assert.ok(typeof reader !== 'string')
  try {
    for (const edgesMs of [days, hours, [fromMs, toMs]]) {
      const within = calls.filter(({ id }) => startedAtMs(id) >= fromMs && startedAtMs(id) < edgesMs.at(-1)!)
      for (const dimension of dimensions) {
        const question = { filter: {}, edgesMs, dimension }
        const answer: CallAnswer = await reader.inReadTransaction(() => reader.aggregate(question))
        const { groups } = answer
        const counted = Map.groupBy(within, (call) => {
          const bucket = edgesMs.findLastIndex((edge) => edge <= startedAtMs(call.id))
          return `${bucket} ${entryOf(call, dimension)}`
        })
        assert.equal(groups.length, counted.size, dimension)
        for (const { bucket, value, figures } of groups) {
          const name = `${bucket} ${value}`
          assertFigures(figures, counted.get(name) ?? [], `${dimension}: ${name}`)
        }
      }
    }
  } finally {
    reader.close()
  }
}
