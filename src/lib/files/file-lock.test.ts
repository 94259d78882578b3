import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { canMakeNamespaces, newPidNamespace } from '../../../test/support/command-process.ts'
import { makeTempDir } from '../../../test/support/temp-dir.ts'
import { takeFileLock, tryFileLock } from './file-lock.ts'

const module = JSON.stringify(new URL('file-lock.ts', import.meta.url).href)
/** Says `held` or `busy`, and holds the lock until it is killed. */
const program = `import { tryFileLock } from ${module}
  console.log(tryFileLock(process.argv[1]) === null ? 'busy' : 'held')
  setInterval(() => {}, 1000)`

async function hold(
  path: string,
  command: readonly [string, ...string[]] = [process.execPath],
): Promise<{ readonly child: ChildProcess; readonly said: string }> {
  const [name, ...args] = command
  const child = spawn(name, [...args, '--input-type=module', '-e', program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, said: said.toString().trim() }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

test('one holder at a time, in this process and in another; a killed one holds it no more', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('it.lock')
  const own = tryFileLock(path)
  assert.ok(own !== null)
  assert.equal(tryFileLock(path), null)
  const refused = await hold(path)
  assert.equal(refused.said, 'busy')
  await kill(refused.child)
  own[Symbol.dispose]()
  own[Symbol.dispose]()
  const other = await hold(path)
  assert.equal(other.said, 'held')
  assert.equal(tryFileLock(path), null)
  await kill(other.child)
  using again = tryFileLock(path)
  assert.ok(again !== null)
})

test('it is an empty file of its owner alone, and nothing lies beside it', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('it.lock')
  using lock = tryFileLock(path)
  assert.ok(lock !== null)
  const { size, mode } = statSync(path)
  assert.deepEqual([size, mode & 0o777], [0, 0o600])
  assert.deepEqual(readdirSync(dir.path), ['it.lock'])
})

test('who waits holds nothing else up, and gets it when it is free, or null when the time is over', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('it.lock')
  const first = tryFileLock(path)
  assert.equal(await takeFileLock(path, 30), null)
  let turns = 0
  const turning = setInterval(() => {
    if (++turns === 5) first?.[Symbol.dispose]()
  }, 1)
  using second = await takeFileLock(path, 60_000)
  clearInterval(turning)
  assert.ok(second !== null && turns >= 5)
})

test('it is held until it is let go, also by who keeps nothing of it', async () => {
  await using dir = await makeTempDir()
  const path = dir.file('it.lock')
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  assert.ok(tryFileLock(path) !== null)
  for (let turn = 0; turn < 3; turn++) {
    collect()
    await new Promise(setImmediate)
  }
  assert.equal(tryFileLock(path), null)
})

test('what is no lock is told in words, and so is a folder that is not there', async () => {
  await using dir = await makeTempDir()
  writeFileSync(dir.file('it.lock'), 'something else, and long enough to be looked at'.repeat(30))
  assert.throws(() => tryFileLock(dir.file('it.lock')), /it\.lock cannot be locked: file is not a database/)
  assert.throws(() => tryFileLock(dir.file('no/it.lock')), { code: 'ENOENT' })
})

test('another PID namespace sees it', async (context) => {
  if (!canMakeNamespaces()) return context.skip('no namespaces can be made here')
  await using dir = await makeTempDir()
  const path = dir.file('it.lock')
  const inside = await hold(path, [...newPidNamespace, process.execPath])
  assert.equal(inside.said, 'held')
  assert.equal(tryFileLock(path), null)
  await kill(inside.child)
  using lock = await takeFileLock(path, 60_000)
  assert.ok(lock !== null)
})

test('another user cannot hold it', { skip: process.getuid?.() !== 0 }, async () => {
  await using dir = await makeTempDir()
  const path = dir.file('it.lock')
  tryFileLock(path)?.[Symbol.dispose]()
  chmodSync(dir.path, 0o755)
  const asNobody = `import { DatabaseSync } from 'node:sqlite'
    process.setuid(65534)
    new DatabaseSync(process.argv[1], { readOnly: true }).exec('BEGIN; SELECT * FROM sqlite_schema')`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', asNobody, path])
  assert.equal(status, 1)
  assert.match(stderr.toString(), /unable to open database file/)
})
