import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { storeDoc, withStoreTables } from '../../build/store-doc.ts'

test('docs/store.md has the fields of a call and the schema as the program has them', async () => {
  const text = await readFile(storeDoc, 'utf8')
  assert.equal(text, withStoreTables(text), 'npm run docs writes them')
})
