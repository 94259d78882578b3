import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { optionsDoc, withOptionTables } from '../../build/options-doc.ts'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { settingName, specsOf } from '../../src/options/option-spec.ts'

const text = readFileSync(optionsDoc, 'utf8')

test('docs/options.md has the tables that `npm run docs` writes', () => {
  assert.equal(text, withOptionTables(text))
})

test('docs/options.md names the options that can be set on the dashboard', () => {
  const [, told = ''] = /Of the options, these can be\s+set there: ([^.]*)\./.exec(text) ?? []
  const settable = specsOf(gatewayOptionTable).filter(({ changes }) => changes !== undefined)
  assert.deepEqual(
    told.match(/[a-z_\d]+/g),
    settable.map(({ name }) => settingName(name)),
  )
})
