import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { replaceFile } from './replace-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
after(() => rmSync(folder, { recursive: true }))

test('the file holds the new content, for its owner alone, and nothing is left beside it', () => {
  const path = join(folder, 'settings.json')
  replaceFile(path, 'old')
  replaceFile(path, 'newer')
  replaceFile(path, 'new', { flush: true })
  assert.equal(readFileSync(path, 'utf8'), 'new')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(folder), ['settings.json'])
})

test('where it cannot be replaced it throws and leaves nothing beside it', () => {
  const path = join(folder, 'a-folder')
  mkdirSync(path)
  assert.throws(() => replaceFile(path, 'x'))
  assert.deepEqual(readdirSync(folder).sort(), ['a-folder', 'settings.json'])
})
