import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readAdminToken } from './admin-token.ts'

const folder = mkdtempSync(join(tmpdir(), 'tokenweir-'))
after(() => rmSync(folder, { recursive: true }))

function file(content: string): string {
  const path = join(folder, 'token')
  writeFileSync(path, content)
  return path
}

const token = 'correct-horse-battery'

test('the token comes from its file, or else from the environment', () => {
  assert.equal(readAdminToken(null, {}), null)
  assert.equal(readAdminToken(null, { TOKENWEIR_ADMIN_TOKEN: '' }), null)
  assert.equal(readAdminToken(null, { TOKENWEIR_ADMIN_TOKEN: token }), token)
  assert.equal(readAdminToken(file(`${token}\n`), { TOKENWEIR_ADMIN_TOKEN: 'another-long-token' }), token)
})

test('a token that can be guessed, or is none, stops the start without being repeated', () => {
  for (const wrong of ['short', 'with a space in it', 'with-a-\ttab-in-it']) {
    const isRefusal = (error: unknown): boolean =>
      error instanceof Error && /must hold at least 16/.test(error.message) && !error.message.includes(wrong)
    assert.throws(() => readAdminToken(null, { TOKENWEIR_ADMIN_TOKEN: wrong }), isRefusal)
    assert.throws(() => readAdminToken(file(wrong), {}), isRefusal)
  }
  assert.throws(() => readAdminToken(file(''), {}), /got 0 characters/)
  assert.throws(
    () => readAdminToken(join(folder, 'nowhere'), {}),
    /could not read --admin-token-file \S+: there is no such file/,
  )
})
