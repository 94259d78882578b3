import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { sampleHealth, sampleStatus } from '../../../test/support/sample-health.ts'
import type { HealthReport } from '../../api/health-report.ts'
import type { ProcessStatus } from '../../api/process-status.ts'
import { displayWidth } from './display-width.ts'
import { statusLine } from './status-line.ts'

type Figures = Partial<Record<'active' | 'queued' | 'calls' | 'limit' | 'percent' | 'warnings', number>>

const usual: Required<Figures> = {
  active: 2,
  queued: 3,
  calls: 1204,
  limit: 480e6,
  percent: 3.125,
  warnings: 0,
}

function health(figures: Figures): HealthReport {
  const { active, queued, calls, limit, percent, warnings } = { ...usual, ...figures }
  const { rate_limiter, token_budget } = sampleHealth
  return {
    ...sampleHealth,
    rate_limiter: { ...rate_limiter, active, queued, total_admitted: calls },
    token_budget: { ...token_budget, daily_limit: limit, percentage_used: percent },
    warnings: Array.from({ length: warnings }, () => ({ code: 'a', message: 'b' })),
  }
}

function running(figures: Figures = {}, more: Partial<ProcessStatus> = {}): ProcessStatus {
  return { ...sampleStatus, health: health(figures), ...more }
}

function down(state: ProcessStatus['state'], more: Partial<ProcessStatus> = {}): ProcessStatus {
  return running({}, { running: false, state, health_ok: false, health: null, ...more })
}

function plain(status: ProcessStatus, columns = 200): string {
  return statusLine(status, { columns, color: false })
}

test('what a running gateway does', () => {
  const cases: [ProcessStatus, string][] = [
    [
      running({ warnings: 2 }),
      '● running · 2 in flight of 4 · 3 waiting · 2 warnings · 1,204 calls · budget 3.1% of 480M',
    ],
    [
      running({ active: 0, queued: 0, calls: 1, limit: 9999, percent: 0, warnings: 1 }),
      '● running · 0 in flight of 4 · 0 waiting · 1 warning · 1 call · budget 0% of 9,999',
    ],
    [
      running({}, { simulated: true, message: 'Another gateway uses the same folder.' }),
      '● running (simulated) · 2 in flight of 4 · 3 waiting · 1,204 calls · budget 3.1% of 480M · Another gateway uses the same folder.',
    ],
    [
      running({}, { health_ok: false, health: null, message: 'It does not answer as itself.' }),
      '● running · no answer on port 9090',
    ],
  ]
  for (const [status, line] of cases) assert.equal(plain(status), line)
})

test('every other state in words, with its reason', () => {
  const cases: [ProcessStatus, string][] = [
    [down('stopped'), '○ stopped'],
    [down('stopped', { message: 'It ended with exit code 1.' }), '○ stopped: It ended with exit code 1.'],
    [down('starting'), '◐ starting'],
    [running({ active: 3 }, { state: 'draining' }), '◐ draining: finishing 3 calls'],
    [running({ active: 1 }, { state: 'draining' }), '◐ draining: finishing 1 call'],
    [down('draining'), '◐ draining'],
    [down('unresponsive'), '✗ not responding'],
    [down('foreign'), '✗ port 9090 is in use by another program'],
    [down('foreign', { message: 'A web server is on port 9090.' }), '✗ A web server is on port 9090.'],
  ]
  for (const [status, line] of cases) assert.equal(plain(status), line)
})

test('budgets of all sizes', () => {
  const cases: [limit: number, percent: number, text: string][] = [
    [480_000_000, 0.001, 'budget <0.01% of 480M'],
    [1_500_000, 99.94, 'budget 99.9% of 1.5M'],
    [10_000, 99.96, 'budget 99.9% of 10K'],
    [999_600, 104.2, 'budget 104% of 1M'],
    [9_960_000, 1234, 'budget 1,230% of 9.96M'],
    [2_000_000_000, 50, 'budget 50% of 2B'],
    [Number.MAX_SAFE_INTEGER, 0, 'budget 0% of 9,010T'],
  ]
  for (const [limit, percent, text] of cases) {
    assert.ok(plain(running({ limit, percent })).endsWith(` · ${text}`), plain(running({ limit, percent })))
  }
})

test('what matters least goes first where the terminal is narrow', () => {
  const status = running({ warnings: 2 })
  const lines = [
    '● running · 2 in flight of 4 · 3 waiting · 2 warnings · 1,204 calls · budget 3.1% of 480M',
    '● running · 2 in flight of 4 · 3 waiting · 2 warnings · 1,204 calls',
    '● running · 2 in flight of 4 · 3 waiting · 2 warnings',
    '● running · 2 in flight of 4 · 3 waiting',
    '● running · 2 in flight of 4',
    '● running',
    '● runni…',
  ]
  for (const [i, line] of lines.entries()) {
    const wider = lines[i - 1]
    assert.equal(plain(status, displayWidth(line)), line)
    if (wider !== undefined) assert.equal(plain(status, displayWidth(wider) - 1), line)
  }
  assert.equal(plain(status, 0), '')
})

test('no width is ever exceeded, and a message cannot drive the terminal', () => {
  const statuses = [
    running({ warnings: 3 }, { message: '日本語 \u001b[2J\nnext' }),
    down('foreign', { message: 'It calls itself \u001b]0;owned\u0007 水 \r\n.' }),
  ]
  for (const status of statuses) {
    for (let columns = 0; columns < 130; columns++) {
      const line = plain(status, columns)
      assert.ok(displayWidth(line) <= columns, `${columns}: ${line}`)
      assert.doesNotMatch(line, /\p{Cc}/u)
    }
  }
})

test('colours repeat what the words say', () => {
  for (const status of [running({ warnings: 1, percent: 120 }), down('stopped'), down('unresponsive')]) {
    const colored = statusLine(status, { columns: 100, color: true })
    assert.notEqual(colored, plain(status, 100))
    assert.equal(stripVTControlCharacters(colored), plain(status, 100))
  }
})
