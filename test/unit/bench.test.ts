/** What the benchmarks make of measured values: ratios, verdicts, and when a figure is void; on made-up figures. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { addedWaitsResult } from '../../bench/added-waits.ts'
import { eventDelaysResult } from '../../bench/event-delays.ts'
import { firstCallResult } from '../../bench/first-call.ts'
import { callsResult } from '../../bench/json-calls.ts'
import { largePromptResult } from '../../bench/large-prompt.ts'
import type { Counted } from '../../bench/load.ts'
import { type BenchResult, verdict } from '../../bench/summary.ts'
import type { TargetName } from '../../bench/targets/target.ts'
import { Waits } from '../../bench/waits.ts'

const times = { rounds: 3, seconds: 1 }

/** A sample; `waitsMs` are the median and the 99th percentile of its hundred waits. */
function sample(
  over: Partial<Omit<Counted, 'waits'>>,
  [p50, p99]: readonly [number, number] = [1, 2],
): Counted {
  const waits = new Waits([...Array.from({ length: 97 }, () => p50), p99, p99, p99])
  return { units: 100, reads: 100, failed: 0, perS: 1000, cpuUsPerUnit: 50, ...over, waits }
}

function samplesOf(
  of: Partial<Record<TargetName, readonly Counted[]>>,
): ReadonlyMap<TargetName, readonly Counted[]> {
  return new Map(Object.entries(of) as [TargetName, readonly Counted[]][])
}

function verdicts(result: BenchResult): readonly string[] {
  return result.goals.map(verdict)
}

suite('P1 and P1b', () => {
  const program = { name: 'p1b-few-clients', clients: 8, goal: 1.5 }
  const cpus = (...each: readonly number[]): readonly Counted[] =>
    each.map((cpuUsPerUnit) => sample({ cpuUsPerUnit }))

  test('the ratio is the median of the ratios of the rounds, not the ratio of the medians', () => {
    const samples = samplesOf({ bare: cpus(10, 20, 100), tokenweir: cpus(14, 40, 120) })
    const result = callsResult(program, times, [2000, 2000, 2000], samples)
    assert.deepEqual(verdicts(result), ['✓ CPU per call: 1.40 × bare, goal 1.5'])
    assert.deepEqual(result.table[2]!.slice(0, 4), ['tokenweir', '40.0', '14.0–120.0', '1.40'])
    assert.deepEqual(result.notes, [])
  })

  test('a rival is a yardstick where it was measured, the bare proxy alone where not', () => {
    const samples = samplesOf({ bare: cpus(10), portkey: cpus(500), tokenweir: cpus(25) })
    assert.deepEqual(verdicts(callsResult(program, times, [2000], samples)), [
      '✗ MISSED CPU per call: 2.50 × bare, goal 1.5',
      '✗ MISSED CPU per call: 0.050 × portkey, goal 0.04',
    ])
    assert.deepEqual(verdicts(callsResult(program, times, [2000], samplesOf({ tokenweir: cpus(25) }))), [])
  })

  test('void: a direct rate below twice the proxied one, and calls that failed', () => {
    const samples = samplesOf({
      bare: [sample({ perS: 1001 })],
      tokenweir: [sample({ perS: 1000, failed: 1 })],
    })
    assert.deepEqual(callsResult(program, times, [2000], samples).notes, [
      'bare: void, the direct rate is below twice the proxied one',
      'tokenweir: void, calls failed',
    ])
  })
})

suite('P3', () => {
  const measured = {
    clients: 32,
    rate: 1000,
    maxima: new Map<TargetName, number>([
      ['bare', 5000],
      ['nginx', 9000],
      ['tokenweir', 2000],
    ]),
    directRates: [2000],
    direct: [sample({}, [1, 2])],
    samples: samplesOf({
      bare: [sample({}, [1.4, 6])],
      nginx: [sample({}, [1.2, 2.4])],
      tokenweir: [sample({}, [1.25, 7.5])],
    }),
  }

  test('compared is what is added to the direct wait, the median with nginx, the p99 with the bare proxy', () => {
    const result = addedWaitsResult(measured, times)
    assert.deepEqual(verdicts(result), [
      '✓ added to a call, p50: 1.25 × nginx, goal 1.5',
      '✗ MISSED added to a call, p99: 1.38 × bare, goal 1.25',
    ])
    assert.deepEqual(result.notes, [])
  })

  test('void: a yardstick that adds nothing, fewer calls than were due, a slow direct rate', () => {
    const noise = samplesOf({
      bare: [sample({ perS: 949 }, [1.4, 6])],
      nginx: [sample({}, [0.9, 2])],
      tokenweir: [sample({}, [1.25, 7])],
    })
    const result = addedWaitsResult({ ...measured, directRates: [1999], samples: noise }, times)
    assert.deepEqual(verdicts(result), ['✓ added to a call, p99: 1.25 × bare, goal 1.25'])
    assert.deepEqual(result.notes, [
      'nginx: void, its p50 cannot be told from that without a proxy',
      'bare: void, 949 a second came of 1000 that were due',
      'nginx: void, the direct rate is below twice the proxied one',
      'tokenweir: void, the direct rate is below twice the proxied one',
    ])
  })
})

test('P4: delays are compared as they are, for each number of streams; void by the direct rate', () => {
  const samples = samplesOf({
    bare: [sample({}, [1, 4])],
    nginx: [sample({}, [1, 3])],
    tokenweir: [sample({}, [1.5, 6])],
  })
  const all = [50, 100].map((streams) => ({
    streams,
    rate: 1000 / streams,
    directRates: [streams * 30],
    samples,
  }))
  const result = eventDelaysResult(all, times)
  assert.deepEqual(verdicts(result).slice(0, 2), [
    '✓ event of 50 streams, p50: 1.50 × nginx, goal 1.5',
    '✗ MISSED event of 50 streams, p99: 1.50 × bare, goal 1.25',
  ])
  assert.deepEqual(
    result.notes,
    ['bare', 'nginx', 'tokenweir'].map(
      (name) => `${name}, 50 streams: void, the direct rate is below twice the proxied one`,
    ),
  )
})

test('P10: the goal is the median of the longest of each round; void if it is missed without a prompt, too', () => {
  const rounds = (...longest: readonly number[]): Counted[] => longest.map((ms) => sample({}, [1, ms]))
  const pauses = { quiet: rounds(2, 3, 40), beside: rounds(4, 4.5, 60), prompts: 9 }
  const told = largePromptResult(50, new Map([['tokenweir', pauses]]), times)
  assert.deepEqual(verdicts(told), ['✓ longest pause of other streams: 4.50 ms, goal 5'])
  assert.deepEqual(told.notes, [])
  const loud = new Map([['tokenweir', { ...pauses, quiet: rounds(6, 3, 40) }]] as const)
  assert.deepEqual(largePromptResult(50, loud, times).notes, [
    'tokenweir: void, pauses are over 5 ms without a prompt, too',
  ])
})

test('P12: the median of the seconds until the call is recorded', () => {
  const found = [19, 21, 20.5].map((recordedS) => ({ installedS: 1, answeredS: 2, recordedS }))
  assert.deepEqual(verdicts(firstCallResult(found)), ['✗ MISSED first recorded call: 21 s, goal 20'])
})
