import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, statSync, writeSync } from 'node:fs'
import { appendFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { test } from 'node:test'
import { LogFile } from '../../src/supervisor/log-file.ts'
import { Condition } from '../support/condition.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { eventually } from '../support/eventually.ts'
import { makeWorkplace } from './workplace.ts'
import { assertWithin } from '../support/assert-within.ts'

/** What a watch told, put together. */
class Watcher {
  readonly #changes = new Condition()
  readonly close: () => void
  lines: string[] = []
  resets = 0

  constructor(log: LogFile) {
    this.close = log.watch((lines, reset) => {
      if (reset) {
        this.resets += 1
        this.lines = []
      }
      this.lines.push(...lines)
      this.#changes.changed()
    })
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    await this.#changes.until(() => holds() || undefined, what)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

test('a log that does not exist has no lines', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  assert.deepEqual(await log.tail(10), { lines: [], totalLines: 0 })
  assert.deepEqual((await log.tail(10, 0)).lines, [])
  assert.equal(await log.size(), 0)
  await log.clear()
  await log.rotateIfLarge()
})

test('the last lines are read, and all are counted', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  const all = Array.from({ length: 20_000 }, (_, index) => `line ${index} ✓`)
  await writeFile(log.path, `${all.join('\n')}\n`)
  for (const count of [0, 1, 3, 1000, 20_000, 30_000]) {
    assert.deepEqual(await log.tail(count), {
      lines: count === 0 ? [] : all.slice(-count),
      totalLines: 20_000,
    })
  }
  await appendFile(log.path, 'more\n\nunfinished \u001b[31mred')
  assert.deepEqual(await log.tail(3), { lines: ['more', '', 'unfinished red'], totalLines: 20_003 })
  await truncate(log.path)
  await appendFile(log.path, 'anew\n')
  assert.deepEqual(await log.tail(3), { lines: ['anew'], totalLines: 1 })
})

test('what was printed since is told apart, also when the log was emptied meanwhile', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  await writeFile(log.path, 'a much longer line of before\n')
  const size = await log.size()
  await appendFile(log.path, 'b\nc\nd')
  assert.deepEqual((await log.tail(20, size)).lines, ['b', 'c', 'd'])
  assert.deepEqual((await log.tail(2, size)).lines, ['c', 'd'])
  await log.clear()
  await appendFile(log.path, 'e\n')
  assert.deepEqual((await log.tail(20, size)).lines, ['e'])
})

test('a log of fifty megabytes is counted once, and moved aside while its writer goes on', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  const descriptor = openSync(log.path, 'a')
  const line = Buffer.from(`${'x'.repeat(1023)}\n`)
  for (let kib = 0; kib < 51 * 1024; kib += 64) writeSync(descriptor, Buffer.concat(Array(64).fill(line)))
  assert.equal((await log.tail(1)).totalLines, 51 * 1024)
  // Lines that go from what was counted already are not missed: it is not counted again.
  writeSync(descriptor, line, 0, line.length)
  const beginning = openSync(log.path, 'r+')
  writeSync(beginning, Buffer.alloc(4096, 'x'), 0, 4096, 0)
  closeSync(beginning)
  assert.equal((await log.tail(1)).totalLines, 51 * 1024 + 1)

  await log.rotateIfLarge()
  assert.equal(statSync(`${log.path}.1`).size, 51 * 1024 ** 2 + 1024)
  assert.equal(statSync(`${log.path}.1`).mode & 0o777, 0o600)
  assert.equal(statSync(log.path).size, 0)
  writeSync(descriptor, 'goes on\n')
  assert.equal(await readFile(log.path, 'utf8'), 'goes on\n')
  assert.deepEqual(await log.tail(5), { lines: ['goes on'], totalLines: 1 })
  await log.rotateIfLarge()
  assert.equal(await readFile(log.path, 'utf8'), 'goes on\n')

  closeSync(descriptor)
  await log.clear()
  assert.ok(!existsSync(`${log.path}.1`))
})

test('clearing the log of a running gateway leaves no gap at its head', async () => {
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: ['--port=0', '--upstream=http://127.0.0.1:9/v1'] })
  await supervisor.start()
  const log = new LogFile(place.file('proxy.log'))
  assert.match((await log.tail(20)).lines.join('\n'), /listening on/)
  // Its last line, which comes once there is a database.
  await eventually('all to be said', async () => / are recorded in /.test((await log.tail(1)).lines.join()))
  await log.clear()
  assert.deepEqual(await log.tail(20), { lines: [], totalLines: 0 })
  await supervisor.stop()
  const content = await readFile(log.path, 'utf8')
  assert.match(content, /^\S+Z \[\d+\] stopping/)
  assert.ok(!content.includes('\0'))
})

test('a watch tells of what is there, then of each line once, none twice and none left out', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  await writeFile(log.path, 'one\ntwo\nthr')
  using watcher = new Watcher(log)
  await watcher.until('the first lines', () => watcher.lines.length === 2)
  // Another process writes, as fast as it can, in pieces that end anywhere.
  const program = `
    const fs = require('node:fs'); const fd = fs.openSync(${JSON.stringify(log.path)}, 'a')
    fs.writeSync(fd, 'ee\\n')
    let text = ''; for (let i = 0; i < 20000; i += 1) text += 'line ' + i + ' ✓\\n'
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 777) fs.writeSync(fd, bytes.subarray(at, at + 777))`
  await once(spawn(process.execPath, ['-e', program], { stdio: 'inherit' }), 'exit')
  await watcher.until('all lines', () => watcher.lines.length === 20_003)
  assert.deepEqual(watcher.lines.slice(0, 3), ['one', 'two', 'three'])
  assert.ok(watcher.lines.slice(3).every((line, index) => line === `line ${index} ✓`))
  assert.equal(watcher.resets, 1)
})

test('a watch is told, holds back what has no end yet, and stops when it is told to', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  const watcher = new Watcher(log)
  await watcher.until('word of the missing file', () => watcher.resets === 1)
  assert.deepEqual(watcher.lines, [])
  await writeFile(log.path, 'first\nhalf')
  const written = performance.now()
  await watcher.until('the first line', () => watcher.lines.length === 1)
  assertWithin(1000, performance.now() - written, 'word of a line')
  assert.deepEqual(watcher.lines, ['first'])
  await appendFile(log.path, ' and half\n')
  await watcher.until('the whole line', () => watcher.lines.length === 2)
  assert.deepEqual(watcher.lines, ['first', 'half and half'])
  watcher.close()
  using other = new Watcher(log)
  await appendFile(log.path, 'unheard\n')
  await other.until('the line', () => other.lines.includes('unheard'))
  assert.deepEqual(watcher.lines, ['first', 'half and half'])
})

test('a watch begins anew when the log is emptied, replaced or removed', async () => {
  await using dir = await makeTempDir()
  const log = new LogFile(dir.file('proxy.log'))
  await writeFile(log.path, 'old 1\nold 2\n')
  using watcher = new Watcher(log)
  await watcher.until('the old lines', () => watcher.lines.length === 2)
  await log.clear()
  await watcher.until('the emptying', () => watcher.resets === 2)
  assert.deepEqual(watcher.lines, [])
  await appendFile(log.path, 'new\n')
  await watcher.until('the new line', () => watcher.lines.length === 1)

  await writeFile(dir.file('other'), 'another file, longer than the one before\n')
  await rename(dir.file('other'), log.path)
  await watcher.until('the other file', () => watcher.lines[0]?.startsWith('another') === true)
  await rm(log.path)
  await watcher.until('the removal', () => watcher.lines.length === 0)
  await writeFile(log.path, 'back\n')
  await watcher.until('the return', () => watcher.lines[0] === 'back')
})
