import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { ownIdentity, parseStat } from '../../src/lib/process/process-identity.ts'
import { makeWorkplace } from './workplace.ts'

const anyPort = ['--port=0', '--upstream=http://127.0.0.1:9/v1']
const impatient = { answerMs: 300, acceptStopMs: 300, afterDrainMs: 300 }

/** A process of nobody's concern, which any signal would end. */
interface Canary extends AsyncDisposable {
  readonly pid: number
  readonly isAlive: () => boolean
}

async function startCanary(): Promise<Canary> {
  const child: ChildProcess = spawn('sleep', ['600'], { stdio: 'ignore' })
  await once(child, 'spawn')
  return {
    pid: child.pid!,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Contents that a PID file should never have, as many as asked for, the same each time. */
function pidFileContents(canary: number, count: number): readonly string[] {
  const odd = ['0', '-1', '1', '', '\n', ' ', '\0', 'NaN', '1e9', '0x10', '+5', '-0', '2147483648']
  const named = [canary, -canary, process.pid, process.ppid, -process.pid].map(String)
  const dressed = [
    `${canary}\n${process.pid}`,
    ` ${canary} `,
    `${canary}.0`,
    `${canary};`,
    `{"pid":${canary}}`,
  ]
  const known = [...odd, '9'.repeat(400), ...named, ...dressed]
  const pieces = ['0', '-', '1', '\n', ' ', 'x', String(canary), '.', '\0', 'ü', '{', String(process.pid)]
  let seed = 42
  const pick = (): string => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return pieces[seed % pieces.length]!
  }
  const made = Array.from({ length: count - known.length }, (_, index) =>
    Array.from({ length: 1 + (index % 6) }, pick).join(''),
  )
  return [...known, ...made]
}

test('no process is signalled on the word of a PID file, whatever it holds', async () => {
  await using canary = await startCanary()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const contents = pidFileContents(canary.pid, 250)
  assert.equal(contents.length, 250)
  for (const content of contents) {
    writeFileSync(place.file('.proxy.pid'), content)
    const { state, pid } = await supervisor.status()
    assert.deepEqual([state, pid], ['stopped', null], JSON.stringify(content))
    await assert.rejects(supervisor.stop(), { code: 'not_running' }, JSON.stringify(content))
  }
  assert.ok(canary.isAlive())

  // Nor while a gateway runs: it is the one that is stopped.
  const { pid } = await supervisor.start()
  assert.equal(readFileSync(place.file('.proxy.pid'), 'utf8').trim(), String(pid))
  writeFileSync(place.file('.proxy.pid'), String(canary.pid))
  assert.equal((await supervisor.stop()).state, 'stopped')
  assert.equal(readFileSync(place.file('.proxy.pid'), 'utf8'), String(canary.pid))
  assert.deepEqual(place.gateways(), [])
  assert.ok(canary.isAlive())
})

test('no process is signalled that is not the very one that the record tells of', async () => {
  await using canary = await startCanary()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort })
  const { startTicks } = parseStat(readFileSync(`/proc/${canary.pid}/stat`, 'utf8'))!
  const { bootId } = ownIdentity()
  const record = { instance: 'gone', host: '127.0.0.1', port: 9, started_at: '2026-11-21T06:00:00Z' }
  const identities = [
    // The number has come round: it was another process then.
    { pid: canary.pid, startTicks: startTicks - 1, bootId },
    { pid: canary.pid, startTicks: startTicks + 1, bootId },
    { pid: canary.pid, startTicks, bootId: 'an earlier boot' },
    // Written where the system does not tell.
    { pid: canary.pid, startTicks: null, bootId: null },
    { pid: canary.pid, startTicks, bootId: null },
    { pid: canary.pid, startTicks: null, bootId },
    { pid: -canary.pid, startTicks, bootId },
    { pid: 0, startTicks: null, bootId: null },
    { pid: -1, startTicks: null, bootId: null },
    { pid: 1, startTicks: null, bootId: null },
    { pid: String(canary.pid), startTicks, bootId },
  ]
  for (const identity of identities) {
    writeFileSync(place.file('gateway-process.json'), JSON.stringify({ ...record, ...identity }))
    assert.equal((await supervisor.status()).state, 'stopped', JSON.stringify(identity))
    await assert.rejects(supervisor.stop(), { code: 'not_running' }, JSON.stringify(identity))
  }
  assert.ok(canary.isAlive())
})

test('with a stale record and a stale PID file a gateway starts, and another process keeps its number', async () => {
  await using canary = await startCanary()
  await using place = await makeWorkplace()
  const supervisor = place.supervisor({ args: anyPort, limits: impatient })
  writeFileSync(place.file('.proxy.pid'), String(canary.pid))
  const identity = { pid: canary.pid, startTicks: 1, bootId: ownIdentity().bootId }
  const record = { instance: 'gone', host: '127.0.0.1', port: 9, started_at: '2026-11-21T06:00:00Z' }
  writeFileSync(place.file('gateway-process.json'), JSON.stringify({ ...record, ...identity }))
  const { pid } = await supervisor.start()
  process.kill(pid!, 'SIGSTOP')
  assert.equal((await supervisor.stop()).state, 'stopped')
  assert.deepEqual(place.gateways(), [])
  assert.ok(canary.isAlive())
})
