import assert from 'node:assert/strict'
import { test } from 'node:test'
import { curvePercentiles } from '../../src/call/call-question.ts'
import type { MeasureFigures } from '../../src/call/figures.ts'
import { emptyFigures } from '../../src/store/read/group-figures.ts'
import type { CompareColumnName } from '../data/sorted-columns.ts'
import { sortedRows } from '../design/table/sorted-rows.ts'
import { type CompareGroup, compareColumns, curveOf } from './compare-figures.ts'

function group(key: string | null, n: number, p95: number): CompareGroup {
  const measure: MeasureFigures = { n, avg: 1, p50: p95 / 2, p90: p95, p95, p99: p95, max: p95 }
  const values = n === 0 ? [] : curvePercentiles.map((percentile) => percentile * p95)
  return {
    ...emptyFigures,
    key,
    calls: n,
    duration_ms: measure,
    ttft_ms: measure,
    ttft_total_ms: measure,
    queue_ms: measure,
    tpot_ms: measure,
    output_tokens_per_s: measure,
    curves: { duration_ms: values, ttft_ms: values, output_tokens_per_s: values },
  }
}

test('the largest comes first, and what is of too few calls last', () => {
  const groups = [group('few', 19, 900), group('fast', 100, 10), group(null, 20, 30), group('slow', 50, 70)]
  const busiest = groups.toSorted((a, b) => b.calls - a.calls)
  const names = (column: CompareColumnName, rising = false): readonly (string | null)[] =>
    sortedRows(busiest, compareColumns[column].value, rising).map(({ key }) => key)
  assert.deepEqual(names('latency_p95'), ['slow', null, 'fast', 'few'])
  assert.deepEqual(names('calls'), ['fast', 'slow', null, 'few'])
  assert.deepEqual(names('latency_p95', true), ['fast', null, 'slow', 'few'])
  // All costs are unknown, so the group with the most calls comes first.
  assert.deepEqual(names('cost'), ['fast', 'slow', null, 'few'])
  assert.equal(compareColumns.latency_p50.value(group('a', 4, 10)), null)
  assert.equal(compareColumns.latency_p50.value(group('a', 5, 10)), 5)
})

test('a curve reaches as far as there are calls enough', () => {
  const known = (n: number): readonly number[] => {
    const { values } = curveOf(group('a', n, 1), 'duration_ms', 'a', 'accent')
    return curvePercentiles.filter((_, at) => values[at] !== null)
  }
  assert.deepEqual(known(0), [])
  assert.deepEqual(known(4), [])
  assert.deepEqual(known(5), [20, 30, 40, 50, 60, 70, 80])
  assert.deepEqual(known(10), [10, 20, 30, 40, 50, 60, 70, 80, 90])
  assert.deepEqual(known(20), curvePercentiles.slice(0, -1))
  assert.deepEqual(known(100), curvePercentiles)
})
