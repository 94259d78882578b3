import assert from 'node:assert/strict'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { commands } from '../../src/cli/main.ts'
import { canMakeNamespaces, startCommandProcess } from '../support/command-process.ts'
import { cannotActAsOthers, nobodysId } from '../support/curl.ts'
import { inParallel } from '../support/in-parallel.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const atOnce = 3
const nobodyThere = 'http://127.0.0.1:9'
/** Nothing listens there. */
const noPorts = {
  TOKENWEIR_PORT: '1',
  TOKENWEIR_GATEWAY_PORT: '1',
  TOKENWEIR_DASHBOARD_PORT: '1',
  TOKENWEIR_SHARE: '',
}
const gatewayPorts = ['--port', '0', '--host', '127.0.0.1', '--upstream', nobodyThere]

interface Asked {
  /** A use of the command that is right. */
  readonly args?: readonly string[]
  readonly code?: number
  /** What it says in an empty folder: what happened, to what, and what to do. */
  readonly says: RegExp
  /** The folders and files that it makes there. */
  readonly makes?: RegExp
  /** It goes on until it is told to end, and says this first. */
  readonly until?: RegExp
}

const noDatabase =
  /data\/llm_telemetry\.db: There is no database yet: the first run of the gateway creates it/
const noCalls =
  /^No calls are recorded in \S+\/data\/llm_telemetry\.db yet: start "tokenweir gateway" and send a call/

/** Each command as a newcomer types it. One that is missing here fails the first test. */
const asked: Readonly<Record<string, Asked>> = {
  up: {
    args: [...gatewayPorts, '--dashboard-port', '0'],
    until: /gateway: running/,
    says: /tokenweir is up/,
    makes: /^data/,
  },
  gateway: { args: gatewayPorts, until: /calls are recorded/, says: /listening on/, makes: /^data/ },
  dashboard: {
    args: ['--port', '0', '--gateway-port', '0'],
    until: /dashboard on http/,
    says: /dashboard on http/,
    makes: /^data/,
  },
  demo: { args: ['--port', '0', '--dashboard-port', '0'], until: /gateway: running/, says: /simulated/ },
  calls: { says: noCalls },
  sessions: { says: noCalls },
  tail: {
    code: 4,
    says: /no gateway is running on data\/gateway\.sock or .*: start one with "tokenweir gateway", or/,
  },
  top: { code: 4, says: /no gateway is running in data: start one with "tokenweir gateway", or/ },
  'gateways list': { says: /^No gateway runs\./ },
  'gateways set': { args: ['--max-concurrent', '3'], code: 2, says: /set the variable TOKENWEIR_SHARE/ },
  limits: { code: 4, says: /no gateway is running in data: start one with "tokenweir gateway", or/ },
  'costs show': { says: /prices from .*data\/model_costs\.json does not exist yet/ },
  'costs set': {
    args: ['m', '--input', '1', '--output', '2'],
    says: /^m costs input 1/,
    makes: /^data\/model_costs/,
  },
  'costs sync': {
    args: ['--pricing-source', 'nosuch.json'],
    code: 1,
    says: /nosuch\.json cannot be fetched: there is no such file or folder; create it, or name another/,
  },
  'clients list': { says: /^No calls in the last seven days, and no limits/ },
  'clients set': {
    args: ['c', '--max-concurrent', '1'],
    says: /^c: at most 1 call at once\nNo running gateway uses .*: this applies once one starts/,
    makes: /^data\/clients\.json/,
  },
  'clients name': { args: ['0123abcd', 'bob'], says: /^0123abcd: its calls/, makes: /^data\/clients\.json/ },
  'upstreams list': { says: /More upstreams: tokenweir upstreams add .*data\/upstreams\.json/ },
  'upstreams add': {
    args: ['x', '--url', nobodyThere],
    says: /^x: calls under \/x\/ go to/,
    makes: /^data\/upstreams\.json/,
  },
  'upstreams set': {
    args: ['x', '--max-concurrent', '1'],
    code: 2,
    says: /no upstream x: add it with tokenweir upstreams add x --url <url>/,
  },
  'upstreams remove': {
    args: ['x'],
    code: 2,
    says: /no upstream x in data\/upstreams\.json: tokenweir upstreams lists/,
  },
  'upstreams test': { says: /There are no further upstreams in data\/upstreams\.json; tokenweir doctor/ },
  alerts: { says: /gateway_down[^]*Alerts are not sent: no webhook is set/ },
  'db compress': { code: 1, says: noDatabase },
  'db check': { code: 1, says: noDatabase },
  'db export': { args: ['--out', 'calls.csv'], code: 1, says: noDatabase },
  'db backup': { args: ['copy.db'], code: 1, says: noDatabase },
  'db rebuild': { code: 1, says: noDatabase },
  'db reprice': { args: ['--from', '2026-01-01'], code: 1, says: noDatabase },
  'db import': { args: ['nosuch.csv'], code: 1, says: /nosuch\.csv does not exist/ },
  'db move': { args: ['--to-share'], code: 2, says: /to share, set the variable TOKENWEIR_SHARE/ },
  mcp: { says: /^$/ },
  env: { args: ['codex'], says: /^codex\(\) \{/ },
  'service print': { says: /^# \/etc\/systemd\/system\/tokenweir\.service/ },
  doctor: {
    args: [...gatewayPorts, '--dashboard-port', '0'],
    code: 1,
    says: /data does not exist yet: the first start creates it/,
  },
}

interface Seen {
  readonly code: number | null
  readonly said: string
}

async function run(
  name: string,
  directory: string,
  { env = noPorts, launcher = [] }: { readonly env?: object; readonly launcher?: readonly string[] } = {},
): Promise<Seen> {
  const { args = [], until } = asked[name]!
  await using command = startCommandProcess({
    args: [...name.split(' '), ...args],
    directory,
    launcher,
    env: { ...env, UPSTREAM_API_KEY: '', TOKENWEIR_ALERT_WEBHOOK: '' },
  })
  if (until !== undefined) {
    await command.waitForOutput(until, 60_000)
    await command.stop('SIGINT')
  }
  const { code } = await command.exited
  return { code, said: command.stdout + command.stderr }
}

function isPlain(name: string, said: string): void {
  assert.doesNotMatch(
    said,
    /^ +at |node:internal|\bE[A-Z]{3,}: /m,
    `${name}: no stack, and no words of the system`,
  )
}

test('every command is tried here', () => {
  assert.deepEqual(Object.keys(asked).sort(), Object.keys(commands).sort())
})

test('in an empty folder, every command says what happened and makes no more than it has to', async () => {
  await inParallel(Object.keys(asked), atOnce, async (name) => {
    await using dir = await makeTempDir()
    const { code = 0, says, makes } = asked[name]!
    const seen = await run(name, dir.path)
    assert.equal(seen.code, code, `${name}: ${seen.said}`)
    assert.match(seen.said.replace(/^tokenweir: /, ''), says, name)
    isPlain(name, seen.said)
    const made = readdirSync(dir.path, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file !== 'data',
    )
    if (makes === undefined) assert.deepEqual(readdirSync(dir.path), [], name)
    else {
      assert.ok(existsSync(dir.file('data')), name)
      assert.deepEqual(
        made.filter((file) => !makes.test(file)),
        [],
        name,
      )
    }
  })
})

const uses = await Promise.all(Object.keys(asked).map(async (name) => (await commands[name]?.[1]())?.use))
const acting = Object.keys(asked).filter((_, index) => uses[index] === 'acts')

test('in one folder, whatever comes first, every command that changes something finds what it needs', async () => {
  await using dir = await makeTempDir()
  await inParallel(acting.toReversed(), atOnce, async (name) => {
    const { code, said } = await run(name, dir.path)
    assert.ok([0, 1, 2, 4].includes(code ?? -1), `${name}: ${code} ${said}`)
    isPlain(name, said)
  })
})

test('where a file has the folder’s place, every command that changes something says so in plain words', async () => {
  await inParallel(acting, atOnce, async (name) => {
    await using dir = await makeTempDir()
    for (const file of ['data', 'logger']) writeFileSync(dir.file(file), '')
    const { code, said } = await run(name, dir.path)
    assert.ok([0, 1, 2, 4].includes(code ?? -1), `${name}: ${code} ${said}`)
    isPlain(name, said)
  })
})

/** A network of its own, where the usual ports are free. */
const ownNetwork = ['unshare', '--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'] as const
const usualPorts = { TOKENWEIR_PORT: '', TOKENWEIR_GATEWAY_PORT: '', TOKENWEIR_DASHBOARD_PORT: '' }

test(
  'beside a gateway of another folder, nothing is changed but in the folder that is named',
  { skip: !canMakeNamespaces() },
  async () => {
    await using other = await makeTempDir()
    await using gateway = startCommandProcess({
      args: ['gateway', '--upstream', nobodyThere],
      directory: other.path,
      launcher: ownNetwork,
      env: usualPorts,
    })
    await gateway.waitForOutput(/calls are recorded/)
    const launcher = ['nsenter', `--net=/proc/${gateway.pid}/ns/net`, '--']
    const set = (directory: string, env: object): Promise<Seen> =>
      run('clients set', directory, { launcher, env: { ...usualPorts, ...env } })
    await inParallel(acting, atOnce, async (name) => {
      await using dir = await makeTempDir()
      const { code, said } = await run(name, dir.path, { launcher, env: usualPorts })
      assert.deepEqual([code, readdirSync(dir.path)], [2, []], `${name}: ${said}`)
      const here = `${dir.path}/data does not exist, and the gateway on port 9090`
      assert.ok(said.startsWith(`tokenweir: ${here}`), `${name}: ${said}`)
      const both = `--db data/llm_telemetry.db means this folder, --db ${other.file('data/llm_telemetry.db')} means that gateway`
      assert.ok(said.includes(both), `${name}: ${said}`)
    })
    const settings = (): readonly string[] =>
      readdirSync(other.file('data')).filter((name) => /clients|upstreams/.test(name))
    assert.deepEqual(settings(), [])

    await using own = await makeTempDir()
    assert.equal((await set(own.path, { TOKENWEIR_DB: 'data/llm_telemetry.db' })).code, 0)
    assert.ok(existsSync(own.file('data/clients.json')))
    rmSync(own.file('data/clients.json'))
    assert.equal((await set(own.path, {})).code, 0, 'this folder has files of its own now')
    assert.ok(existsSync(own.file('data/clients.json')))
    assert.deepEqual(settings(), [])

    const { code, said } = await set(own.path, { TOKENWEIR_GATEWAY_PORT: '9090' })
    assert.equal(code, 0)
    assert.match(said, /^using .* of the gateway on port 9090; use --db for another$/m)
    assert.ok(settings().includes('clients.json'))
    const read = await run('calls', own.path, { launcher, env: usualPorts })
    assert.ok(
      read.said.includes(`using ${other.file('data/llm_telemetry.db')} of the running gateway`),
      read.said,
    )
  },
)

test('a dashboard is an address, too', async () => {
  await using other = await makeTempDir()
  await using dir = await makeTempDir()
  await using dashboard = startCommandProcess({ args: ['dashboard', '--port', '0'], directory: other.path })
  const [, port = ''] = await dashboard.waitForOutput(/dashboard on http:\/\/127\.0\.0\.1:(\d+)/)
  const { code, said } = await run('clients set', dir.path, {
    env: { ...noPorts, TOKENWEIR_DASHBOARD_PORT: port },
  })
  assert.equal(code, 0, said)
  assert.match(said, /^using .* of the dashboard on port \d+; use --db for another$/m)
  assert.deepEqual([existsSync(other.file('data/clients.json')), readdirSync(dir.path)], [true, []])
})

/** One of each kind, and those that once ended with a stack. */
const ofOneFolder =
  'up,gateway,dashboard,calls,sessions,gateways list,clients list,clients set,upstreams test,db check,db export,db import'.split(
    ',',
  )

test(
  'in a folder of root, a command tells another user whose it is',
  { skip: cannotActAsOthers },
  async () => {
    await using dir = await makeTempDir()
    chmodSync(dir.path, 0o755)
    await using gateway = startCommandProcess({ args: ['gateway', ...gatewayPorts], directory: dir.path })
    await gateway.waitForOutput(/calls are recorded/)
    await gateway.stop()
    const as = `--reuid=${nobodysId}`
    const launcher = ['setpriv', as, `--regid=${nobodysId}`, '--clear-groups', '--']
    // Where what is compiled is kept, for the next command to start sooner.
    mkdirSync(dir.file('home'))
    chownSync(dir.file('home'), nobodysId, nobodysId)
    const env = { ...noPorts, HOME: dir.file('home') }
    const data = dir.file('data')
    await inParallel(ofOneFolder, atOnce, async (name) => {
      await using command = startCommandProcess({
        args: [...name.split(' '), ...(asked[name]!.args ?? [])],
        directory: dir.path,
        launcher,
        env,
      })
      const { code } = await command.exited
      assert.deepEqual([code, command.stdout], [1, ''], `${name}: ${command.stderr}`)
      assert.equal(
        command.stderr,
        `tokenweir: ${data} belongs to root, and nobody (user 65534) may not read it; run this with sudo, or make it yours: sudo chown -R nobody ${data}\n`,
        name,
      )
    })
    const doctor = await run('doctor', dir.path, { launcher, env })
    assert.equal(doctor.code, 1)
    assert.match(
      doctor.said,
      /^✗ folder +\S+data belongs to root, .*could not check .* → run this with sudo/m,
    )
    assert.doesNotMatch(doctor.said, /^✓ (?:lock|database|prices|upstreams|settings|disk)/m)
    const tail = await run('tail', dir.path, { launcher, env })
    assert.match(
      tail.said,
      /^tokenweir: the control socket in data cannot be used: this user may not do that; run it as/,
    )

    chownSync(data, nobodysId, nobodysId)
    const calls = await run('calls', dir.path, { launcher, env })
    assert.equal(calls.code, 1)
    assert.match(calls.said, /llm_telemetry\.db belongs to root, .* sudo chown -R nobody \S+\/data\n$/)
  },
)
