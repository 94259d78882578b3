import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startCommandProcess } from '../support/command-process.ts'
import { cannotActAsOthers, nobodysId } from '../support/curl.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import type { UpstreamSetting } from '../../src/options/upstream-settings.ts'
import { startUpProcess } from '../support/up-process.ts'
import { startGatewayOfUpstreams } from '../support/upstreams-file.ts'

const ports = ['--port', '0', '--host', '127.0.0.1', '--upstream', 'http://127.0.0.1:9']
const serving: readonly (readonly string[])[] = [
  ['up', ...ports, '--dashboard-port', '0'],
  ['gateway', ...ports],
  ['dashboard', '--port', '0', '--gateway-port', '0'],
]

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function run(directory: string, args: readonly string[]): Promise<Ended> {
  await using command = startCommandProcess({ args, directory, env: { TOKENWEIR_PORT: '1' } })
  const { code } = await command.exited
  return { code, stdout: command.stdout, stderr: command.stderr }
}

async function isRefused(directory: string, args: readonly string[], words: RegExp): Promise<void> {
  const { code, stdout, stderr } = await run(directory, args)
  assert.deepEqual([code, stdout], [1, ''], `${args.join(' ')}: ${stdout}${stderr}`)
  assert.match(stderr, /^tokenweir: [^\n]+\n$/)
  assert.match(stderr, words)
}

/** A folder that `nobody` has prepared, with an upstream of theirs and a link to a file of ours. */
function prepared(dir: TempDir, upstream: string): { readonly victim: string } {
  const victim = dir.file('victim.txt')
  writeFileSync(victim, 'mine\n')
  mkdirSync(dir.file('data'))
  writeFileSync(dir.file('data/gateway.json'), JSON.stringify({ upstream }))
  symlinkSync(victim, dir.file('data/proxy.log'))
  lchownSync(dir.file('data/proxy.log'), nobodysId, nobodysId)
  for (const name of ['data', 'data/gateway.json']) chownSync(dir.file(name), nobodysId, nobodysId)
  return { victim }
}

test('a data folder that another user prepared is refused', { skip: cannotActAsOthers }, async () => {
  await using dir = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const { victim } = prepared(dir, upstream.baseUrl)
  const words = /data belongs to nobody \(user 65534\); make it yours: chown -R root \/.*data$/m
  for (const args of serving) await isRefused(dir.path, args, words)
  await isRefused(dir.path, ['upstreams', 'test'], words)
  await isRefused(dir.path, ['clients', 'set', 'codex', '--max-concurrent', '1'], words)
  assert.equal(readFileSync(victim, 'utf8'), 'mine\n')
  assert.equal(upstream.requests.length, 0)
})

test('a file of another user in a folder of ours is refused', { skip: cannotActAsOthers }, async () => {
  for (const name of ['gateway.json', 'upstreams.json.good', 'proxy.log']) {
    await using dir = await makeTempDir()
    mkdirSync(dir.file('data'))
    writeFileSync(dir.file(`data/${name}`), '{}')
    chownSync(dir.file(`data/${name}`), nobodysId, nobodysId)
    await isRefused(
      dir.path,
      serving[1] ?? [],
      new RegExp(`data/${name.replaceAll('.', '\\.')} belongs to nobody`),
    )
  }
})

test('what anyone may write is refused, and the command that mends it is one that does', async () => {
  for (const name of ['data', 'data/upstreams.json', '']) {
    await using dir = await makeTempDir()
    mkdirSync(dir.file('data'), { mode: 0o700 })
    if (name.endsWith('.json')) writeFileSync(dir.file(name), '{"version":1,"upstreams":[]}')
    const open = join(dir.path, name)
    chmodSync(open, 0o777)
    const { code, stderr } = await run(dir.path, serving[1] ?? [])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^tokenweir: \/\S+ can be written by anyone; take that right away: chmod o-w \/\S+\n$/,
    )
    const [, mended = ''] = /chmod o-w (\S+)/.exec(stderr) ?? []
    chmodSync(mended, 0o755)
    await using gateway = startCommandProcess({ args: serving[1] ?? [], directory: dir.path })
    await gateway.waitForOutput(/calls are recorded/)
    await gateway.stop()
  }
})

test('a folder in one that all share, as /tmp, is taken; the shared one itself is not', async () => {
  await using dir = await makeTempDir()
  chmodSync(dir.path, 0o1777)
  await isRefused(
    dir.path,
    ['gateway', ...ports, '--db', 'calls.db'],
    /can be written by anyone; use a folder of your own in it\n/,
  )
  await using gateway = startCommandProcess({ args: serving[1] ?? [], directory: dir.path })
  await gateway.waitForOutput(/calls are recorded/)
  await gateway.stop()
})

test('a group that may write is trusted, and so are files of root', { skip: cannotActAsOthers }, async () => {
  await using dir = await makeTempDir()
  mkdirSync(dir.file('data'))
  chownSync(dir.path, 0, nobodysId)
  chownSync(dir.file('data'), 0, nobodysId)
  chmodSync(dir.path, 0o755)
  chmodSync(dir.file('data'), 0o2770)
  const launcher = [
    'setpriv',
    `--reuid=${nobodysId}`,
    `--regid=${nobodysId}`,
    '--clear-groups',
    '--',
  ] as const
  const env = { HOME: dir.path }
  await using gateway = startCommandProcess({ args: serving[1] ?? [], directory: dir.path, launcher, env })
  await gateway.waitForOutput(/calls are recorded/)
})

test('under sudo the folder of whoever called it is taken', { skip: cannotActAsOthers }, async () => {
  await using dir = await makeTempDir()
  mkdirSync(dir.file('data'))
  chownSync(dir.file('data'), nobodysId, nobodysId)
  await using upstream = await startSimulatedUpstream()
  await using up = await startUpProcess({
    directory: dir.path,
    args: ['--upstream', upstream.baseUrl],
    env: { SUDO_UID: String(nobodysId) },
  })
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
})

test('no link in the place of a file is written through', async () => {
  for (const [link, args] of [
    ['data/proxy.log', serving[0] ?? []],
    ['logger/payloads.jsonl', [...(serving[1] ?? []), '--raw-log']],
    ['data/.proxy.pid', serving[1] ?? []],
  ] as const) {
    await using dir = await makeTempDir()
    await using upstream = await startSimulatedUpstream()
    const victim = dir.file('victim.txt')
    writeFileSync(victim, 'mine\n')
    for (const name of ['data', 'logger']) mkdirSync(dir.file(name), { mode: 0o700 })
    symlinkSync(victim, dir.file(link))
    await using command = startCommandProcess({
      args: [...args, '--upstream', upstream.baseUrl],
      directory: dir.path,
    })
    if (link === 'data/proxy.log') {
      assert.equal((await command.exited).code, 1)
      assert.match(
        command.stderr,
        /^tokenweir: .*proxy\.log is a symbolic link, which is not followed: remove it/,
      )
    } else {
      const [, origin = ''] = await command.waitForOutput(/listening on (http:\/\/127\.0\.0\.1:\d+),/)
      await command.waitForOutput(/calls are recorded/)
      const answer = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
      assert.equal(answer.status, 200)
      await answer.arrayBuffer()
      await command.stop()
    }
    assert.equal(readFileSync(victim, 'utf8'), 'mine\n', link)
  }
})

test('what is only read may be of another user', { skip: cannotActAsOthers }, async () => {
  await using dir = await makeTempDir()
  prepared(dir, 'http://127.0.0.1:9')
  assert.equal((await run(dir.path, ['calls'])).code, 0)
  assert.ok(!existsSync(dir.file('data/llm_telemetry.db')))
})

test(
  'a file that another user puts in its place while the gateway runs changes nothing',
  { skip: cannotActAsOthers },
  async () => {
    await using own = await startSimulatedUpstream()
    await using theirs = await startSimulatedUpstream()
    const named = (origin: string): UpstreamSetting => ({
      name: 'x',
      urls: [origin],
      models: ['m'],
      credentials: 'client',
    })
    await using gateway = await startGatewayOfUpstreams({
      upstream: 'http://127.0.0.1:9',
      named: [named(own.origin)],
    })
    await gateway.waitForOutput(/calls are recorded/)
    const file = join(gateway.directory, 'upstreams.json')
    writeFileSync(`${file}.theirs`, JSON.stringify({ version: 1, upstreams: [named(theirs.origin)] }))
    chownSync(`${file}.theirs`, nobodysId, nobodysId)
    renameSync(`${file}.theirs`, file)
    await gateway.waitForOutput(/upstreams\.json belongs to nobody \(user 65534\); make it yours: chown root/)
    const request = { method: 'POST', body: '{"model":"m","messages":[]}' }
    const answer = await fetch(`${gateway.baseUrl}/chat/completions`, request)
    assert.equal(answer.status, 200)
    await answer.arrayBuffer()
    assert.deepEqual([own.requests.length, theirs.requests.length], [1, 0])
  },
)
