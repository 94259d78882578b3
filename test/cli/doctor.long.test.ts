import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { describe, it, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { freePort } from '../support/free-port.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { selfSigned } from '../support/self-signed.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { untilListening } from '../support/until-listening.ts'

const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
const nobodysPort = ['--upstream', 'http://127.0.0.1:9/v1']

interface Seen {
  readonly code: number
  /** By the thing that was looked at; of several the last. */
  readonly of: Readonly<Record<string, string>>
  readonly stdout: string
}

/** What the doctor finds, each as `state: message → remedy`. Ports are free ones unless given. */
async function doctor(
  folder: TempDir,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  launcher: readonly string[] = [],
): Promise<Seen> {
  const ports = ['--port', '0', '--host', '127.0.0.1', '--dashboard-port', '0']
  const [program = '', ...rest] = [
    ...launcher,
    process.execPath,
    command,
    'doctor',
    '--json',
    ...ports,
    ...args,
  ]
  const noProxies = Object.fromEntries(proxyVariables.map((name) => [name, '']))
  const { code, stdout } = await new Promise<{ code: number; stdout: string }>((resolve) => {
    const options = { cwd: folder.path, env: { ...process.env, UPSTREAM_API_KEY: '', ...noProxies, ...env } }
    const child = execFile(program, rest, options, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout: stdout === '' ? stderr : stdout }),
    )
  })
  assert.match(stdout, /^\{/, stdout)
  const { ok, checks } = JSON.parse(stdout) as { readonly ok: boolean; readonly checks: readonly Finding[] }
  assert.equal(ok, code === 0)
  assert.equal(code, checks.some(({ state }) => state === 'fault') ? 1 : 0)
  const of = checks.map(({ check, state, message, remedy }) => {
    assert.equal(remedy === null, state === 'ok', 'who has something to do is told what')
    return [check, `${state}: ${message} → ${remedy}`] as const
  })
  return { code, of: Object.fromEntries(of), stdout }
}

test('further upstreams are told of, and a file of them that is broken, with its place', async () => {
  await using folder = await makeTempDir()
  mkdirSync(folder.file('data'))
  const write = (upstreams: object): void =>
    writeFileSync(folder.file('data/upstreams.json'), JSON.stringify({ version: 1, upstreams }))
  write([{ name: 'local', urls: ['http://127.0.0.1:9'] }])
  assert.match((await doctor(folder, nobodysPort)).of['upstreams'] ?? '', /^ok: 1 more upstream/)
  write([{ name: 'local', urls: 'http://127.0.0.1:9' }])
  const { code, of } = await doctor(folder, nobodysPort)
  assert.equal(code, 1)
  assert.match(of['upstreams'] ?? '', /^fault: .*upstreams\.json, line 1, column \d+: upstreams\[0\]\.urls/)
})

test('before the first start all is well, and nothing is made', async () => {
  await using folder = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const { code, of } = await doctor(folder, ['--upstream', upstream.baseUrl])
  assert.equal(code, 0)
  for (const check of [
    'gateway',
    'port',
    'dashboard',
    'folder',
    'disk',
    'lock',
    'database',
    'prices',
    'proxy',
  ])
    assert.match(of[check] ?? '', /^ok/, check)
  assert.match(of['node'] ?? '', /^ok: Node 2\d\./)
  assert.match(of['upstream'] ?? '', /^ok: .* answers in .*, 1 model: sim-small/)
  assert.match(of['clock'] ?? '', /^warning: not compared/)
  assert.deepEqual(readdirSync(folder.path), [])
})

test('while a gateway runs, and after it was killed', async () => {
  await using folder = await makeTempDir()
  await using upstream = await startSimulatedUpstream()
  const data = folder.file('data')
  mkdirSync(data)
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, directory: data })
  await gateway.waitForOutput(/calls are recorded/)
  const db = ['--db', gateway.databaseFile]
  const files = (): string[] => readdirSync(data).filter((name) => !name.includes('-'))
  const before = files()
  const while_ = await doctor(folder, [...db, '--port', '1'])
  assert.equal(while_.code, 0, while_.stdout)
  assert.match(while_.of['gateway'] ?? '', new RegExp(`^ok: process ${gateway.pid} runs`))
  assert.match(while_.of['port'] ?? '', new RegExp(`^ok: ${gateway.port} is the gateway's own`))
  assert.match(while_.of['lock'] ?? '', /^ok: the database is in use by 1 gateway/)
  assert.match(while_.of['database'] ?? '', /^ok: .*is readable/)
  assert.match(while_.of['upstream'] ?? '', /^ok: /, 'its own upstream is asked')
  assert.deepEqual(files(), before)

  const elsewhere = ['--db', 'elsewhere/calls.db', ...nobodysPort]
  const other = await doctor(folder, ['--port', String(gateway.port), ...elsewhere])
  assert.match(
    other.of['port'] ?? '',
    new RegExp(`^fault: .* process ${gateway.pid}, database ${gateway.databaseFile}`),
  )
  await gateway.kill9()
  const after = await doctor(folder, [...db, '--upstream', upstream.baseUrl])
  assert.equal(after.code, 0, after.stdout)
  assert.match(after.of['gateway'] ?? '', /^ok: not running/)
  assert.match(after.of['lock'] ?? '', /^ok: no gateway has/)
})

test('a port that another program has is told with that program', async () => {
  await using folder = await makeTempDir()
  const port = await freePort()
  const program = `require('net').createServer((socket) => socket.destroy()).listen(${port}, '127.0.0.1')`
  using child = spawn(process.execPath, ['-e', program])
  await untilListening(port, child)
  const { of } = await doctor(folder, ['--port', `${port}`, '--dashboard-port', `${port}`, ...nobodysPort])
  const expected = process.platform === 'linux' ? `used by node (process ${child.pid})` : 'is in use'
  for (const check of ['port', 'dashboard']) {
    assert.match(of[check] ?? '', /^fault: \d+ is in use/)
    assert.ok(of[check]?.includes(expected), of[check])
  }
})

test('a folder that cannot be written is told, and that nothing is recorded', async (context) => {
  await using folder = await makeTempDir()
  mkdirSync(folder.file('data'), { mode: 0o555 })
  // Root may write whatever the mode is, but not where the disk is mounted to be read.
  const mount = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs -o ro none data && exec "$@"', 'sh']
  const { of, code } = await doctor(folder, nobodysPort, {}, process.getuid?.() === 0 ? mount : []).catch(
    (error: unknown) => {
      context.skip('nothing can be mounted here')
      throw error
    },
  )
  assert.equal(code, 1)
  assert.match(of['folder'] ?? '', /^fault: .*data cannot be written .* not recorded/)
})

describe('the database', () => {
  const cases: readonly (readonly [
    name: string,
    content: (sound: Buffer) => Uint8Array,
    expected: RegExp,
  ])[] = [
    ['that can be read', (sound) => sound, /^ok: .* is readable/],
    ['that is none', () => Buffer.alloc(100_000, 'no database'), /^fault: .*belongs to another program/],
    ['that is damaged within', damagedWithin, /^fault: .*(?:damaged|malformed)/],
  ]
  for (const [name, content, expected] of cases) {
    it(name, async () => {
      await using folder = await makeTempDir()
      await using gateway = await startGatewayProcess({ upstream: 'http://127.0.0.1:9/v1' })
      await gateway.waitForOutput(/calls are recorded/)
      await gateway.stop()
      const file = folder.file('calls.db')
      const bytes = content(readFileSync(gateway.databaseFile))
      writeFileSync(file, bytes)
      const { of } = await doctor(folder, ['--db', file, ...nobodysPort])
      assert.match(of['database'] ?? '', expected)
      assert.equal(statSync(file).size, bytes.length)
    })
  }
})

/** A database of which no page but the first two is left. */
function damagedWithin(sound: Buffer): Uint8Array {
  const pageBytes = sound.readUInt16BE(16)
  return Buffer.from(sound).fill(0xa5, 2 * pageBytes)
}

describe('the upstream', () => {
  async function asked(reply: number, key: string, date?: Date): Promise<Seen> {
    await using folder = await makeTempDir()
    const headers = date === undefined ? [] : [['Date', date.toUTCString()] as const]
    const steps = jsonReply(reply, { data: [{ id: 'one' }, { id: 'two' }] }, headers)
    await using upstream = await startSimulatedUpstream({ reply: () => steps })
    const seen = await doctor(folder, ['--upstream', upstream.baseUrl], { UPSTREAM_API_KEY: key })
    const [request] = upstream.requests
    assert.equal(request?.target, '/v1/models')
    assert.equal(request.header('authorization'), key === '' ? undefined : `Bearer ${key}`)
    assert.ok(!seen.stdout.includes('sk-secret'), 'the key is not shown')
    return seen
  }

  it('takes the key', async () => {
    const { of } = await asked(200, 'sk-secret', new Date())
    assert.match(of['upstream'] ?? '', /^ok: .*the key is accepted, 2 models: one, two/)
    assert.match(of['clock'] ?? '', /^ok: /)
  })

  it('refuses the key', async () => {
    const { of, code } = await asked(401, 'sk-secret')
    assert.equal(code, 1)
    assert.match(of['upstream'] ?? '', /^fault: .*refuses the key \(401\) → check UPSTREAM_API_KEY/)
  })

  it('asks for a key, which clients may bring', async () => {
    assert.match((await asked(401, '')).of['upstream'] ?? '', /^warning: .*asks for a key/)
  })

  it('goes by another clock', async () => {
    const { of } = await asked(200, '', new Date(Date.now() - 3_600_000))
    assert.match(of['clock'] ?? '', /^warning: (?:1 h|59 min 59 s|60 min).* ahead of the upstream's/)
  })

  it('is somewhere else, or down', async () => {
    assert.match((await asked(404, '')).of['upstream'] ?? '', /^warning: .*lists no models .*\/v1/)
    assert.match((await asked(503, '')).of['upstream'] ?? '', /^fault: .*503/)
    await using folder = await makeTempDir()
    const { of, code } = await doctor(folder, nobodysPort)
    assert.equal(code, 1)
    assert.match(of['upstream'] ?? '', /^fault: .*nothing listens there/)
    const unknown = await doctor(folder, ['--upstream', 'http://no-such-host.invalid/v1'])
    assert.match(unknown.of['upstream'] ?? '', /^fault: .*(?:ENOTFOUND|EAI_AGAIN)/)
  })

  it('has a certificate that nobody knows, until NODE_EXTRA_CA_CERTS names it, or speaks no TLS', async () => {
    await using folder = await makeTempDir()
    const { key, cert, file } = selfSigned(folder.path)
    await using server = createTlsServer({ key, cert }, (_, response) => response.end('{"data":[]}'))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const args = ['--upstream', `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`]
    const unknown = await doctor(folder, args, { NODE_EXTRA_CA_CERTS: '' })
    assert.match(unknown.of['upstream'] ?? '', /^fault: .*not trusted.*NODE_EXTRA_CA_CERTS/)
    const known = await doctor(folder, args, { NODE_EXTRA_CA_CERTS: file })
    assert.match(known.of['upstream'] ?? '', /^ok: /)
    assert.match(known.of['clock'] ?? '', /^ok: /)
    await using plain = createServer((_, response) => response.end())
    await once(plain.listen(0, '127.0.0.1'), 'listening')
    const url = `https://127.0.0.1:${(plain.address() as AddressInfo).port}/v1`
    const spoken = await doctor(folder, ['--upstream', url])
    assert.match(spoken.of['upstream'] ?? '', /^fault: .*does not speak TLS.* http:\/\//)
  })
})

test('a proxy, prices and settings that are wrong are told, and where', async () => {
  await using folder = await makeTempDir()
  mkdirSync(folder.file('data'))
  writeFileSync(folder.file('data/model_costs.json'), '{\n  "version": 1,,\n}')
  writeFileSync(folder.file('data/gateway.json'), '{"max_concurrent": "many"}')
  const env = { HTTP_PROXY: 'ftp://10.0.0.1' }
  const { of } = await doctor(folder, ['--upstream', 'http://no-such-host.invalid/v1'], env)
  assert.match(of['proxy'] ?? '', /^fault: HTTP_PROXY/)
  assert.match(of['prices'] ?? '', /^fault: .*model_costs\.json, line 2, column 16/)
  assert.match(of['settings'] ?? '', /^fault: .*gateway\.json: max_concurrent must be/)
})

test('for people it is one line each, with what to do', async () => {
  await using folder = await makeTempDir()
  const args = ['doctor', '--port', '0', '--dashboard-port', '0', ...nobodysPort]
  const child = spawn(process.execPath, [command, ...args], { cwd: folder.path })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  await once(child, 'close')
  assert.match(text, /^✗ upstream {3}.* → start it/m)
  for (const line of text.trimEnd().split('\n')) assert.match(line, /^[✓!✗] [a-z]+ +\S/)
})
