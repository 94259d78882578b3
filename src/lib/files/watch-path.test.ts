import assert from 'node:assert/strict'
import { pbkdf2 } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { watchPath } from './watch-path.ts'

test('a file that came before the system first looked is told of, as is what comes later, until it is stopped', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('a.json')
  let told = ''
  // All threads that look at files are at work for a while.
  const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('a', 'b', 200_000, 64, 'sha512'))
  const stop = watchPath(path, 20, () => (told += existsSync(path) ? 'there ' : 'not '))
  writeFileSync(path, '1')
  await Promise.all(busy)
  while (!told.includes('there')) await delay(5)
  told = ''
  while (!told.includes('there')) {
    writeFileSync(path, `${Math.random()}`)
    await delay(30)
  }
  stop()
  told = ''
  writeFileSync(path, 'other')
  await delay(100)
  assert.equal(told, '')
})
