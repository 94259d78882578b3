import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fieldsDoc, withFieldTable } from '../../build/fields-doc.ts'
import { optionDocs, withOptionTables } from '../../build/options-doc.ts'
import { gatewayOptionTable } from '../../src/options/gateway-options.ts'
import { settingName, specsOf } from '../../src/options/option-spec.ts'

const texts = optionDocs.map((doc) => readFileSync(doc, 'utf8'))
const [text = ''] = texts

test('the pages of options and commands have the tables that `npm run docs` writes', () => {
  assert.deepEqual(texts, withOptionTables(texts))
})

test('docs/fields.md has the fields of a call as the program has them', () => {
  const fields = readFileSync(fieldsDoc, 'utf8')
  assert.equal(fields, withFieldTable(fields), 'npm run docs writes them')
})

test('docs/options.md names the options that can be set on the dashboard', () => {
  const [, told = ''] = /These options can be set there: ([^.]*)\./.exec(text) ?? []
  const settable = specsOf(gatewayOptionTable).filter(({ changes }) => changes !== undefined)
  assert.deepEqual(
    told.match(/[a-z_\d]+/g),
    settable.map(({ name }) => settingName(name)),
  )
})
