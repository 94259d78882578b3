import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { type FailureCode, failureKinds } from '../../src/call/failure.ts'
import { contentCoding } from '../../src/lib/http/content-coding.ts'
import { answerShape } from '../../src/gateway/meter/answer-shape.ts'
import type { JsonShape } from '../../src/json/json-scan.ts'
import { allWireForms } from './all-wire-forms.ts'

function read(path: string): Promise<string> {
  return readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
}

const doc = await read('docs/wire.md')
const words = new Set([...doc.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word))

test('docs/wire.md names every place that is read', () => {
  const places = pathsOf(answerShape)
  assert.ok(places.length > 50)
  const missing = places.filter((place) => !words.has(place) && !isTold(place))
  assert.deepEqual(missing, [])
})

/** Paths of a shape, as the docs write them. */
function pathsOf(shape: JsonShape, path = ''): string[] {
  if (typeof shape === 'number') return [path]
  return Object.entries(shape).flatMap(([name, inner]) =>
    pathsOf(inner, name === '' || name === '[]' ? path + name : path === '' ? name : `${path}.${name}`),
  )
}

/** `time_info` is told by its members; `choices[]` is not named where its members are. */
function isTold(place: string): boolean {
  return [...words].some((word) => word.startsWith(`${place}.`))
}

test('docs/wire.md names every member of a usage object that is read', async () => {
  const source = await read('src/gateway/meter/read-usage.ts')
  const members = [...source.matchAll(/\['(\w+)'\]/g)].map(([, member = '']) => member)
  assert.ok(members.length > 30)
  const missing = members.filter((member) => !new RegExp(`\\b${member}\\b`).test(doc))
  // Told in words.
  assert.deepEqual(missing, ['ephemeral_5m_input_tokens', 'is_byok'])
})

test('docs/wire.md names every header that is read', async () => {
  const source = await read('src/gateway/meter/answer-form.ts')
  const [, list = ''] = /requestIdHeaders = \[([^\]]+)\]/.exec(source) ?? []
  const headers = [...list.matchAll(/'([^']+)'/g)].map(([, header = '']) => header)
  assert.ok(headers.length > 5)
  for (const header of headers) assert.ok(words.has(header), header)
})

test('docs/wire.md names the codings that are read', () => {
  const [, list = ''] = /A coded answer \(([^)]+)\)/.exec(doc) ?? []
  const names = list.match(/x-gzip|gzip|deflate|br|zstd/g) ?? []
  assert.deepEqual(new Set(names), new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd']))
  for (const name of names) assert.notEqual(contentCoding(name), null)
})

test('every kind of end that an answer may bring about is among the forms', () => {
  const codes = new Set(allWireForms.map(({ columns }) => columns.failure_code))
  for (const code of [
    'stream_error',
    'stream_truncated',
    'empty_answer',
    'upstream_http',
  ] satisfies FailureCode[]) {
    assert.ok(codes.has(code) && code in failureKinds, code)
  }
})
