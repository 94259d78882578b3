import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import { noPrices } from '../../pricing/model-costs.ts'
import type { PriceReading } from '../../pricing/price-file.ts'
import type { RepriceResult } from '../../api/database-job.ts'
import type { RepriceRequest } from '../../store/jobs/reprice-store.ts'
import * as dbReprice from './db-reprice.ts'
import { OptionError } from '../parse-options.ts'

const sums = { calls: 3, before_usd: null, after_usd: 1.23456789, newly_priced: 3, newly_unpriced: 0 }
const outcome: RepriceResult = {
  ...sums,
  looked_calls: 1200,
  reported_calls: 4,
  days: [
    { day: '2026-11-20', model: 'gpt-4o', ...sums },
    { ...sums, day: '2026-11-21', model: 'a\u001b[31mb', calls: 1, before_usd: 0.005 },
  ],
  duration_ms: 12,
}

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  readonly requests: readonly RepriceRequest[]
}

async function run(
  args: readonly string[],
  answer: () => RepriceResult = () => outcome,
  prices: PriceReading = { costs: noPrices },
): Promise<Ran> {
  const requests: RepriceRequest[] = []
  const parts: dbReprice.RepriceParts = {
    reprice: (_path, request, { onProgress }) => {
      requests.push(request)
      onProgress({ done: 1, total: 4 })
      return Promise.try(answer)
    },
    prices: () => prices,
  }
  const terminal = new FakeTerminal()
  const code = await dbReprice.run(...given(dbReprice, [...args, '--db', 'x.db'], terminal), parts)
  return { code, stdout: terminal.out, stderr: terminal.err, requests }
}

test('it prints what changes by day and model, and in all', async () => {
  const args = '--from 2026-11-20 --to 2026-11-22T00:00:00+01:00 --dry-run'
  const { code, stdout, requests } = await run(args.split(' '))
  assert.equal(code, 0)
  assert.equal(
    stdout,
    '2026-11-20  gpt-4o   3 calls       –  → $1.23\n' +
      '2026-11-21  a\ufffd[31mb   1 call  $0.005  → $1.23\n' +
      '3 calls of 1,200 calls checked would cost $1.23 instead of –; 3 calls had no price before; 4 calls keep the cost their upstream reported. Nothing was changed.\n',
  )
  assert.deepEqual(requests, [
    {
      fromMs: Date.UTC(2026, 10, 20),
      toMs: Date.UTC(2026, 10, 21, 23),
      model: null,
      onlyUnpriced: false,
      dryRun: true,
      timeZone: 'UTC',
    },
  ])
  const nothing = { ...outcome, days: [], calls: 0 }
  const { stdout: text } = await run(['--from', '2026-11-20'], () => nothing)
  assert.equal(text, 'No cost has changed: 1,200 calls checked.\n')
})

test('with --json each line is an object', async () => {
  const { stdout } = await run(['--from', '2026-11-20', '--json'])
  const [progress, result, ...rest] = stdout.split('\n')
  assert.deepEqual(rest, [''])
  assert.equal(progress, '{"progress":{"done":1,"total":4}}')
  const { days: _days, ...figures } = outcome
  assert.partialDeepStrictEqual(JSON.parse(result ?? ''), { result: { ...figures, after_usd: 1.23456789 } })
})

test('after a fault it says to run it again', async () => {
  const { code, stderr } = await run(['--from', '2026-11-20'], () => {
    throw new Error('disk full')
  })
  assert.equal(code, 1)
  assert.match(stderr, /x\.db: disk full.*Run it again/)
})

test('without prices that can be read nothing is touched', async () => {
  const problem = { message: 'what is this.', line: 3, column: 7 }
  for (const reading of [{ costs: null }, { problem }]) {
    const { code, stderr, requests } = await run(['--from', '2026-11-20'], () => outcome, reading)
    assert.deepEqual([code, requests], [1, []])
    assert.match(stderr, 'costs' in reading ? /no prices/ : /line 3, column 7: what is this/)
  }
})

test('from where on the past is changed must be said', async () => {
  await assert.rejects(run([]), OptionError)
  await assert.rejects(run(['--from', '2026-11-22', '--to', '2026-11-21']), OptionError)
  for (const wrong of ['yesterday', '2026-02-30', '2026-11-21T04']) {
    await assert.rejects(run(['--from', wrong]), /--from must be an instant in ISO 8601/)
  }
  await assert.rejects(run(['--from', '2026-11-20', '--tz', 'Nowhere']), /--tz must be an IANA time zone/)
})
