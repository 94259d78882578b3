import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { reportsLimits } from './limit-headers.ts'
import { SeenLimits, metLimit } from './seen-limits.ts'

const nowMs = Date.parse('2026-11-27T12:00:00Z')
const use = { upstream: 'default', model: 'gpt-4.1', key: '0123abcd' }

function head(status: number, headers: Readonly<Record<string, string>>) {
  return { status, statusText: '', headers: Object.entries(headers).flat(), contentLength: null }
}

const openAi = {
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': '212',
  'x-ratelimit-reset-requests': '14s',
  'x-ratelimit-limit-tokens': '200000',
  'x-ratelimit-remaining-tokens': '61000',
  'x-ratelimit-reset-tokens': '41.7s',
}

test('what an answer tells is told with its upstream, model and key until it is full again', () => {
  const limits = new SeenLimits()
  limits.note(use, head(200, openAi), nowMs)
  const at = { window_s: 60, seen_at: '2026-11-27T12:00:00.000Z', ...use }
  const requests = { ...at, kind: 'requests', limit: 500, reset_at: '2026-11-27T12:00:14.000Z' }
  const tokens = { ...at, kind: 'tokens', limit: 200_000, reset_at: '2026-11-27T12:00:41.700Z' }
  assert.deepEqual(limits.report(nowMs + 13_999), [
    { ...requests, remaining: 212 },
    { ...tokens, remaining: 61_000 },
  ])
  assert.deepEqual(limits.report(nowMs + 14_000), [
    { ...requests, remaining: 500 },
    { ...tokens, remaining: 61_000 },
  ])
  assert.deepEqual(limits.report(nowMs + 3_600_000), [], 'an hour later it is forgotten')
})

test('a limit that was told once is known where later answers tell only what is left', () => {
  const limits = new SeenLimits()
  limits.note(use, head(200, openAi), nowMs)
  limits.note(use, head(200, { 'x-ratelimit-remaining-requests': '0' }), nowMs + 1000)
  const [requests] = limits.report(nowMs + 1000)
  assert.deepEqual([requests?.limit, requests?.remaining, requests?.reset_at], [500, 0, null])
  const [later] = limits.report(nowMs + 61_000)
  assert.equal(later?.remaining, 500, 'without a reset it is full after its minute')
})

test('a limit of a day that is not named so is told once, also before and after it is known to be one', () => {
  const limits = new SeenLimits()
  for (const told of ['14399 6s', '14380 120s', '14399 6s']) {
    const [remaining = '', reset = ''] = told.split(' ')
    const headers = {
      'x-ratelimit-limit-requests': '14400',
      'x-ratelimit-remaining-requests': remaining,
      'x-ratelimit-reset-requests': reset,
    }
    const { limits: seen } = limits.note(use, head(200, headers), nowMs)
    const [report, ...others] = limits.report(nowMs)
    assert.deepEqual([report!.window_s! * 1000, report!.remaining], [seen[0]!.windowMs, Number(remaining)])
    assert.deepEqual(others, [])
  }
  assert.equal(limits.report(nowMs)[0]!.window_s, 3600)
})

test('a refusal that asks to wait is told until the wait is over', () => {
  const limits = new SeenLimits()
  for (const status of [200, 503]) limits.note(use, head(status, { 'retry-after': '7' }), nowMs)
  assert.deepEqual(limits.report(nowMs), [], 'only 429 and 529 tell of a limit')
  limits.note(use, head(529, { 'retry-after-ms': '7000' }), nowMs)
  const [wait, ...others] = limits.report(nowMs + 6999)
  assert.deepEqual([wait?.kind, wait?.remaining, wait?.limit, others], ['wait', 0, null, []])
  assert.equal(wait?.reset_at, '2026-11-27T12:00:07.000Z')
  assert.deepEqual(limits.report(nowMs + 7000), [])
})

test('a refusal met the limit of which the smallest share is left', () => {
  const met = (headers: Readonly<Record<string, string>>) =>
    metLimit(new SeenLimits().note(use, head(429, headers), nowMs))
  assert.equal(met(openAi), 'tokens')
  assert.equal(met({ ...openAi, 'x-ratelimit-remaining-requests': '0' }), 'requests')
  assert.equal(met({ 'anthropic-ratelimit-output-tokens-remaining': '0' }), 'output_tokens')
  assert.equal(met({ 'x-ratelimit-limit-requests': '500' }), null)
  assert.equal(met({ 'retry-after': '7' }), null)
})

test('an answer that tells nothing is told apart by its head', () => {
  assert.equal(reportsLimits(head(200, { 'content-type': 'application/json', 'x-request-id': 'r' })), false)
  assert.equal(reportsLimits(head(200, openAi)), true)
  assert.equal(reportsLimits(head(429, {})), true)
})

test('whatever providers and clients send, it is bounded, and those heard of last stay', () => {
  const limits = new SeenLimits()
  for (let at = 0; at < 1000; at++) limits.note({ ...use, model: `m${at}` }, head(200, openAi), nowMs)
  const models = new Set(limits.report(nowMs).map(({ model }) => model))
  assert.equal(models.size, 100)
  assert.ok(models.has('m999') && !models.has('m899'))
})

test('property: no value of a header makes a report that cannot be read', () => {
  const name = fc.constantFrom(...Object.keys(openAi), 'ratelimit', 'retry-after', 'x-ratelimit-reset')
  const value = fc.oneof(
    fc.string(),
    fc.constantFrom('1e9', '1000000000', '-1', '0', '999999999999s'),
    fc.nat().map(String),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.constantFrom(200, 429), (headers, status) => {
      const limits = new SeenLimits()
      limits.note(use, { status, statusText: '', headers: headers.flat(), contentLength: null }, nowMs)
      for (const each of limits.report(nowMs)) {
        assert.ok(each.limit === null || each.limit >= 0)
        assert.ok(each.remaining === null || each.remaining >= 0)
        if (each.reset_at !== null) assert.ok(Date.parse(each.reset_at) >= nowMs)
      }
    }),
  )
})
