import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { isAlive, ownIdentity, parseStat } from './process-identity.ts'

test('this process is alive', () => {
  assert.equal(isAlive(ownIdentity()), true)
})

test('a process of another start, another boot or no process at all is not', () => {
  const own = ownIdentity()
  assert.equal(isAlive({ ...own, startTicks: (own.startTicks ?? 0) - 1 }), process.platform !== 'linux')
  assert.equal(isAlive({ ...own, bootId: 'another' }), process.platform !== 'linux')
})

test('without /proc the number alone decides', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const identity = { pid: child.pid ?? 0, startTicks: null, bootId: null }
  assert.equal(isAlive(identity), true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(isAlive(identity), false)
})

test("a program's name may hold spaces and parentheses", () => {
  const rest = Array.from({ length: 18 }, () => '0').join(' ')
  assert.deepEqual(parseStat(`42 (a) Z (b)) S ${rest} 987654 0 0`), { state: 'S', startTicks: 987_654 })
  assert.equal(parseStat(''), null)
})
