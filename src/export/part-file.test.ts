import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { PartFile, PartFileError } from './part-file.ts'

const isNew = { force: false } as const

describe('a file in the making', () => {
  it('has its name only when it is whole, for its owner alone', async () => {
    await using dir = await makeTempDir()
    const path = dir.file('calls.csv')
    {
      using part = new PartFile(path, isNew)
      part.write(Buffer.from('a,'))
      part.write(Buffer.from('b'))
      assert.deepEqual(readdirSync(dir.path), ['calls.csv.part'])
      assert.equal(part.publish(), 3)
    }
    assert.deepEqual(readdirSync(dir.path), ['calls.csv'])
    assert.equal(readFileSync(path, 'utf8'), 'a,b')
    assert.equal(statSync(path).mode & 0o777, 0o600)
  })

  it('is gone if it does not become whole', async () => {
    await using dir = await makeTempDir()
    {
      using part = new PartFile(dir.file('x'), isNew)
      part.write(Buffer.from('a'))
      writeFileSync(`${part.path}-journal`, '')
    }
    assert.deepEqual(readdirSync(dir.path), [])
  })

  it('writes over what a killed process left, and over a whole file only if it may', async () => {
    await using dir = await makeTempDir()
    const path = dir.file('x')
    writeFileSync(`${path}.part`, 'left by a killed process')
    writeFileSync(`${path}.part-wal`, 'left, too')
    writeFileSync(path, 'whole')
    assert.throws(() => new PartFile(path, isNew), {
      message: `${path} exists already; --force overwrites it`,
    })
    using part = new PartFile(path, { force: true })
    part.write(Buffer.from('b'))
    assert.equal(readFileSync(path, 'utf8'), 'whole')
    part.publish()
    assert.equal(readFileSync(path, 'utf8'), 'b')
    assert.deepEqual(readdirSync(dir.path), ['x'])
  })

  it('is no device, no folder, and no database that somebody uses', async () => {
    await using dir = await makeTempDir()
    mkdirSync(dir.file('folder'))
    writeFileSync(dir.file('used.db'), 'x')
    writeFileSync(dir.file('used.db-wal'), 'calls')
    for (const path of ['/dev/null', dir.file('folder'), dir.file('used.db')]) {
      assert.throws(() => new PartFile(path, { force: true }), PartFileError, path)
    }
    assert.throws(() => new PartFile(dir.file('none/x'), isNew), PartFileError)
    assert.deepEqual(readdirSync(dir.path).sort(), ['folder', 'used.db', 'used.db-wal'])
  })

  it('of two that write the same name, the later one has it', async () => {
    await using dir = await makeTempDir()
    using first = new PartFile(dir.file('x'), isNew)
    using second = new PartFile(dir.file('x'), isNew)
    second.write(Buffer.from('second'))
    assert.throws(() => first.publish(), PartFileError)
    assert.ok(!existsSync(dir.file('x')))
    first[Symbol.dispose]()
    second.publish()
    assert.equal(readFileSync(dir.file('x'), 'utf8'), 'second')
  })
})
