import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { readBytes, readText } from './read-file.ts'

test('a regular file is read whole, up to a bound', async () => {
  await using folder = await makeTempDir()
  const path = folder.file('some')
  for (const size of [0, 1, 1000, 65_536, 300_000]) {
    const content = Buffer.alloc(size, 'x')
    writeFileSync(path, content)
    assert.deepEqual(readBytes(path), content)
    assert.deepEqual(readBytes(path, size), content)
    if (size > 0) assert.throws(() => readBytes(path, size - 1), /bytes or more/)
  }
  truncateSync(path, 3e9)
  assert.throws(() => readBytes(path), /3000000000 bytes or more; 2097152 are the most/)
  // The system gives no size of such a file.
  assert.equal(readText('/proc/self/comm').length > 0, true)
})

test('what is no regular file is refused at once', async () => {
  await using folder = await makeTempDir()
  execFileSync('mkfifo', [folder.file('pipe')])
  symlinkSync('/dev/zero', folder.file('device'))
  assert.throws(() => readBytes(folder.file('pipe')), /named pipe/)
  assert.throws(() => readBytes(folder.file('device')), /a device/)
  assert.throws(() => readBytes(folder.path), /a directory/)
  assert.throws(() => readBytes(folder.file('none')), { code: 'ENOENT' })
})

test('text is UTF-8, with or without a byte order mark', async () => {
  await using folder = await makeTempDir()
  const path = folder.file('some')
  writeFileSync(path, '\uFEFFgrün')
  assert.equal(readText(path), 'grün')
  for (const encoding of ['latin1', 'utf16le'] as const) {
    writeFileSync(path, '\uFEFFgrün', encoding)
    assert.throws(() => readText(path), /not text in UTF-8/)
  }
})
