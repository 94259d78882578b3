import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { storeDocs } from '../../build/store-doc.ts'

test('docs/fields.md and docs/schema.md have the fields of a call and the schema as the program has them', async () => {
  for (const [doc, made] of storeDocs) {
    const text = await readFile(doc, 'utf8')
    assert.equal(text, made(text), 'npm run docs writes them')
  }
})
