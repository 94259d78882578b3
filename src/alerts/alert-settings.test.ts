import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { testBroken } from '../../test/support/broken-file.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { alertRules } from './alert-rules.ts'
import { AlertSettingsFile } from './alert-settings.ts'

const usual = { on: true, threshold: alertRules.budget.threshold.usual }

function open(path: string): AlertSettingsFile {
  const file = new AlertSettingsFile(path)
  file.reloadIfChanged()
  return file
}

test('without a file all rules are as usual, and nothing is written', async () => {
  await using dir = await makeTempDir()
  const file = open(dir.file('alerts.json'))
  assert.deepEqual(file.of('budget'), usual)
  assert.equal(file.of('spend_month').on, false)
  assert.deepEqual(
    [file.problem, existsSync(file.path), existsSync(`${file.path}.good`)],
    [null, false, false],
  )
})

test('what is set is kept, beside what was set before and remarks of a person', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('alerts.json')
  writeFileSync(path, '{"_note": "mine", "budget": {"on": false}}')
  const file = open(path)
  await file.change({ budget: { threshold: 80 } })
  assert.deepEqual(open(path).of('budget'), { on: false, threshold: 80 })
  assert.match(readFileSync(path, 'utf8'), /"_note": "mine"/)
})

/** Files that a person may have written, and the words about each. */
const broken: readonly [text: string, flaw: RegExp][] = [
  ['{"budget": {"on": false},}', /, line 1, column \d+: /],
  ['{\n  "budgt": {}\n}', /, line 2, column 3: budgt is unknown here; known are gateway_down, /],
  [
    '{"budget": {"threshold": 101}}',
    /, line 1, column 26: budget.threshold must be a number from 1 to 100 \(%\); it is 101\./,
  ],
  ['{"budget": {"threshold": "50"}}', /budget.threshold must be a number/],
  ['{"budget": {"on": "yes"}}', /budget.on must be true or false/],
  ['{"budget": {}, "budget": {}}', /column \d+: /],
  ['[]', /The file must be an object/],
  ['', /: /],
]

testBroken(
  (folder) => new AlertSettingsFile(`${folder}/alerts.json`),
  (file) => file.change({ budget: { threshold: 70 } }),
  'broken_alerts_file',
  broken,
)
