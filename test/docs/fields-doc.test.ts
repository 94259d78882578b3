import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fieldsDoc, withFieldTable } from '../../build/fields-doc.ts'

test('docs/fields.md has the fields of a call as the program has them', () => {
  const text = readFileSync(fieldsDoc, 'utf8')
  assert.equal(text, withFieldTable(text), 'npm run docs writes them')
})
