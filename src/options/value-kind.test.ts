import assert from 'node:assert/strict'
import { test } from 'node:test'
import { captureRule, instant, integer, timeZone, urlOrPath } from './value-kind.ts'

test('an instant without its offset is in UTC, and a day is its start', () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['2026-11-21', Date.UTC(2026, 10, 21)],
    ['2026-11-21T04:00:00+01:00', Date.UTC(2026, 10, 21, 3)],
    ['2026-02-30', undefined],
    ['2026-11-21T04:00:00', Date.UTC(2026, 10, 21, 4)],
    ['now', undefined],
    ['', undefined],
  ]
  for (const [text, ms] of cases) assert.equal(instant.parse(text), ms, text)
})

test('a whole number may have commas between thousands', () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['1000', 1000],
    ['1,000', 1000],
    ['1,000,000', 1_000_000],
    ['4,5', undefined],
    ['0,100', undefined],
    ['1 000', undefined],
  ]
  for (const [text, value] of cases) assert.equal(integer(1, 1_000_000).parse(text), value, text)
})

test('a source is a path, or a URL over http that holds no secret', () => {
  const good = [
    'list.json',
    '/a/b c.json',
    'C:\\list.json',
    'https://example.com/a?b=c',
    'http://127.0.0.1:9/x',
  ]
  for (const text of good) assert.equal(urlOrPath.parse(text), text)
  const bad = ['', 'ftp://example.com/x', 'file:///etc/passwd', 'https://a:b@example.com/', 'https://']
  for (const text of [...bad, 'http://a b/', 'a\0b']) assert.equal(urlOrPath.parse(text), undefined, text)
})

test('a time zone is one that there is', () => {
  assert.equal(timeZone.parse('Asia/Kolkata'), 'Asia/Kolkata')
  assert.equal(timeZone.parse('Mars/Olympus'), undefined)
})

test('a rule of capture is one of its three forms', () => {
  for (const text of ['all', 'errors', 'sample:1/10', 'sample:1/1'])
    assert.equal(captureRule.parse(text), text)
  const bad = ['', 'All', 'error', 'sample', 'sample:', 'sample:0', 'sample:1', 'sample:2', 'sample:0.1']
  const alsoBad = ['sample:-1/2', 'sample:1/0', 'sample:2/3', 'sample:1/x', 'sample:1/', 'sample:1/0x1']
  const largeToo = ['sample:1/1 ', 'sample:1/1e3', 'sample:1/1000000000000']
  for (const text of [...bad, ...alsoBad, ...largeToo]) assert.equal(captureRule.parse(text), undefined, text)
})
