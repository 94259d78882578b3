import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../support/seeded-random.ts'
import { type BookedRow, balance } from './day-books.ts'
import { type MadeCall, traceOf } from './day-clients.ts'
import { type CallKind, callsPerS, planCall } from './day.ts'

const random = seededRandom(45)

/** A call that its client and the upstream saw whole, a second long. */
function served(n: number, kind: CallKind = 'json'): MadeCall {
  const plan = planCall(n, kind, random)
  return { plan, begunMs: n, endedMs: n + 1000, end: 'whole', status: 200, id: `id ${n}`, why: '' }
}

/** Its row, priced as the day's last prices have it. */
function rowOf({ plan }: MadeCall): BookedRow {
  const { n, input, output } = plan
  const usd = (input * 500 + output * 1500) / 1e9
  return { id: `id ${n}`, trace: traceOf(n), session: null, outcome: 'ok', status: 200, input, output, usd }
}

function faultsOf(rows: readonly BookedRow[], calls: readonly MadeCall[], killedAtMs: number[] = []): string {
  const reached = new Map(calls.map(({ plan }) => [plan.n, 1]))
  const upstream = { reached, served: new Set(reached.keys()) }
  return balance(rows, calls, upstream, killedAtMs).faults.join('\n')
}

test('books that agree have no fault, and each that does not is told', () => {
  const calls = [served(0), served(1, 'stream')]
  const [first, second] = calls.map(rowOf) as [BookedRow, BookedRow]
  assert.equal(faultsOf([first, second], calls), '')
  assert.match(faultsOf([first], calls), /^stream 1 \(id 1\): it has no row/)
  assert.match(faultsOf([first, second, second], calls), /^call id 1 has two rows/)
  assert.match(
    faultsOf([first, { ...second, outcome: 'upstream_cut' }], calls),
    /says upstream_cut and not ok/,
  )
  assert.match(faultsOf([first, { ...second, output: 1000 }], calls), /1000 tokens, not/)
  assert.match(faultsOf([first, { ...second, usd: 1 }], calls), /nano-dollars in rows/)
  assert.match(faultsOf([first, { ...second, id: 'other' }], calls), /was told another id/)
  assert.match(faultsOf([first, second], calls.slice(1)), /^row id 0: nobody made this call/)
  const unfinished: MadeCall = { ...served(1, 'stream'), end: 'other bytes' }
  assert.match(faultsOf([first, second], [served(0), unfinished]), /looks finished, with other bytes/)
})

test('interrupted are calls that were at the upstream when their gateway was killed, and no others', () => {
  const whole = served(0)
  const cutOff: MadeCall = {
    ...served(1),
    end: 'broken',
    status: null,
    id: null,
    begunMs: 8000,
    endedMs: 9000,
  }
  const nothing = { session: null, status: null, input: null, output: null, usd: null }
  const interrupted = { ...nothing, id: 'id 1', trace: null, outcome: 'interrupted' }
  assert.equal(faultsOf([rowOf(whole), interrupted], [whole, cutOff], [9000]), '')
  assert.match(faultsOf([rowOf(whole)], [whole, cutOff], [9000]), /^0 interrupted rows of 1 older calls/)
  assert.match(
    faultsOf([rowOf(whole), interrupted], [whole, cutOff]),
    /broken.*\n.*interrupted rows of 0 older calls/s,
  )
})

test('a day has a quiet night and three peaks of about sixty calls a second', () => {
  const perHour = Array.from({ length: 240 }, (_, at) => callsPerS(at / 10))
  assert.ok(Math.max(...perHour) > 55 && Math.max(...perHour) < 65)
  assert.ok(Math.min(...perHour) < 2)
  const isPeak = perHour.map((calls) => calls > 40)
  assert.equal(isPeak.filter((isNow, at) => isNow && isPeak[at - 1] !== true).length, 3)
})
