import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { testBroken } from '../../test/support/broken-file.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { JsonFileError } from './validated-json-file.ts'
import { ClientsFile } from './clients-file.ts'

/** Files that a person may have written, and the words about each. */
const broken: readonly [text: string, flaw: RegExp][] = [
  ['{"a": {}', /, line 1, column \d+: /],
  ['[]', /The file must be an object/],
  ['{"a": 3}', /: a must be an object/],
  ['{"a": {"max_concurrent": 0}}', /a\.max_concurrent must be a whole number from 1 to 100,000; it is 0\./],
  ['{"a": {"max_concurrent": 1.5}}', /a\.max_concurrent must be a whole number/],
  ['{"a": {"token_limit": "many"}}', /a\.token_limit must be a whole number/],
  [
    '{\n  "a": {"max": 1}\n}',
    /, line 2, column 9: a\.max is unknown here; known are max_concurrent, token_limit, max_rpm, max_tpm, name/,
  ],
  ['{"a": {"name": "b"}}', /a\.name is only for a fingerprint of a key/],
  ['{"12345678": {"name": " "}}', /name must be a text of 1 to 200 characters/],
  ['{"a\\u0007": {}}', /must be a text of 1 to 200 characters without control characters/],
  ['{"a": {}, "a": {}}', /column \d+: /],
]

testBroken(
  (folder) => new ClientsFile(folder),
  (file) => file.change('agent', { max_concurrent: 2 }),
  'broken_clients_file',
  broken,
)

test('a change keeps all else, remarks too, and is its owner’s alone to read', async () => {
  await using dir = await makeTempDir()
  const file = new ClientsFile(dir.file('data'))
  await file.change('12345678', { name: 'night job', token_limit: 5 })
  assert.equal(statSync(file.path).mode & 0o777, 0o600)
  writeFileSync(file.path, '{"a": {"max_concurrent": 1, "_why": "slow"}, "12345678": {"name": "night job"}}')
  await file.change('a', { token_limit: 7 })
  await file.change('12345678', { name: null })
  assert.deepEqual(JSON.parse(readFileSync(file.path, 'utf8')), {
    a: { max_concurrent: 1, _why: 'slow', token_limit: 7 },
  })
})

test('a fingerprint in capitals means the key, by hand and in a change', async () => {
  await using dir = await makeTempDir()
  const file = new ClientsFile(dir.file('data'))
  await file.change('AB12CD34', { token_limit: 5 })
  assert.deepEqual(JSON.parse(readFileSync(file.path, 'utf8')), { ab12cd34: { token_limit: 5 } })
  writeFileSync(file.path, '{"AB12CD34": {"name": "night job"}, "ab12cd34": {"max_rpm": 3}, "ABC": {}}')
  file.reloadIfChanged()
  assert.deepEqual(file.content, { ab12cd34: { name: 'night job', max_rpm: 3 }, ABC: {} })
  await file.change('AB12CD34', { max_rpm: null })
  assert.deepEqual(file.content, { ab12cd34: { name: 'night job' }, ABC: {} })
})

test('what cannot be called so is refused, and nothing is written', async () => {
  await using dir = await makeTempDir()
  const file = new ClientsFile(dir.path)
  const limit = { max_concurrent: 1 }
  for (const change of [
    file.change('', limit),
    file.change('a\0', limit),
    file.change('agent', { name: 'other' }),
  ])
    await assert.rejects(change, (error) => error instanceof JsonFileError && error.code === 'invalid_client')
  assert.throws(() => statSync(file.path), /ENOENT/)
})

test('changes of several at once are all kept', async () => {
  await using dir = await makeTempDir()
  const names = Array.from({ length: 20 }, (_, at) => `agent ${at}`)
  await Promise.all(names.map((name) => new ClientsFile(dir.path).change(name, { max_concurrent: 1 })))
  const file = new ClientsFile(dir.path)
  file.reloadIfChanged()
  assert.deepEqual(Object.keys(file.content).sort(), names.sort())
})
