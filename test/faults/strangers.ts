/**
 * Strangers who reach both servers over this machine: a real nginx with a plain `proxy_pass` (as www-data, over HTTP/1.0
 * and 1.1), another user, another network namespace: `node test/faults/strangers.ts`. Needs root, and nginx, `unshare`
 * and `ip` for their parts; says what it had to leave out. Ends with 1 where an own route was answered, or the key lent.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type CurlAnswer, cannotActAsOthers, curl, nobodysId } from '../support/curl.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { freePort } from '../support/free-port.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const key = 'sk-lent-91c2d3e4f5a6b7c8'
const startLimitMs = 10_000

if (cannotActAsOthers !== false) {
  console.log(`measured: nothing; ${cannotActAsOthers}`)
  process.exit(0)
}

await using upstream = await startSimulatedUpstream()
await using dashboard = await startDashboardProcess({
  args: ['--upstream', upstream.baseUrl, '--raw-log', '--gateway-host', '0.0.0.0'],
  env: { UPSTREAM_API_KEY: key },
})
await dashboard.ask('POST', '/api/proxy/start')
const ports = { gateway: (await dashboard.status()).port, dashboard: dashboard.port }

type Server = keyof typeof ports
type Way = (server: Server, path: string, options: readonly string[]) => Promise<CurlAnswer>

const json = ['--header', 'Content-Type: application/json', '--data']
const routes: readonly (readonly [server: Server, path: string, options: readonly string[]])[] = [
  ['gateway', '/v1/raw-log/status', []],
  ['gateway', '/v1/raw-log/recent', []],
  ['gateway', '/v1/raw-log/stream', []],
  ['gateway', '/v1/raw-log/toggle', [...json, '{"enabled":false}']],
  ['gateway', '/v1/raw-log/clear', [...json, '{}']],
  ['dashboard', '/', []],
  ['dashboard', '/api/proxy/status', []],
  ['dashboard', '/api/query', []],
  ['dashboard', '/api/raw-log/recent', []],
  ['dashboard', '/api/events?topics=log', []],
  ['dashboard', '/api/proxy/config', ['--request', 'PUT', ...json, '{"upstream":"http://evil.example"}']],
  ['dashboard', '/api/proxy/stop', [...json, '{}']],
]

interface Reached {
  readonly routes: number
  readonly health: boolean
  readonly lent: boolean
}

/** How far a stranger comes. One who does not come as far as the servers shows nothing. */
async function reach(way: Way): Promise<Reached> {
  const call = await way('gateway', '/v1/chat/completions', ['--data', '{"model":"m"}'])
  if (call.status !== 200) throw new Error(`the call was answered ${call.status}`)
  const lent = upstream.requests.at(-1)?.header('authorization') !== undefined
  const { body } = await way('gateway', '/health', [])
  let answered = 0
  for (const [server, path, options] of routes) {
    const { status } = await way(server, path, options)
    if (status === 0) throw new Error(`${path}: nothing was answered`)
    if (status < 400) answered++
  }
  return { routes: answered, health: body.includes('"pid"'), lent }
}

await using dir = await makeTempDir()
const children: ChildProcess[] = []
const over = (origins: Readonly<Record<Server, string>>, userId?: number): Way => {
  return (server, path, options) => curl(origins[server] + path, options, userId)
}
const direct = {
  gateway: `http://127.0.0.1:${ports.gateway}`,
  dashboard: `http://127.0.0.1:${ports.dashboard}`,
}

/** A proxy as its first tutorial has it: an address to pass on to, and nothing else. */
async function nginx(version: '1.0' | '1.1'): Promise<Way> {
  const at = { gateway: await freePort(), dashboard: await freePort() }
  const server = (name: Server): string =>
    `server { listen 127.0.0.1:${at[name]}; location / { proxy_pass ${direct[name]}; proxy_http_version ${version}; } }`
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir.file(name)};`,
  )
  const file = dir.file(`nginx-${version}.conf`)
  writeFileSync(
    file,
    `user www-data; daemon off; pid ${file}.pid; error_log stderr;
    events {} http { access_log off; ${paths.join(' ')} ${server('gateway')} ${server('dashboard')} }`,
  )
  children.push(spawn('nginx', ['-e', 'stderr', '-c', file], { stdio: 'ignore' }))
  const way = over({
    gateway: `http://127.0.0.1:${at.gateway}`,
    dashboard: `http://127.0.0.1:${at.dashboard}`,
  })
  const untilMs = performance.now() + startLimitMs
  while ((await way('gateway', '/health', [])).status === 0) {
    if (performance.now() > untilMs) throw new Error('nginx does not begin')
    await delay(50)
  }
  return way
}

/** A namespace with a cable to ours. The dashboard listens on loopback alone, so that it cannot be reached from there. */
async function otherNetwork(): Promise<Way> {
  const holder = spawn('unshare', ['--net', 'sleep', '120'], { stdio: 'ignore' })
  children.push(holder)
  await once(holder, 'spawn')
  await delay(200)
  const inside = ['--net', '--target', String(holder.pid)]
  const [ours, theirs] = [`tw${process.pid}a`.slice(-15), `tw${process.pid}b`.slice(-15)]
  const run = (...command: string[]): unknown => execFileSync('ip', command, { stdio: 'pipe' })
  run('link', 'add', ours, 'type', 'veth', 'peer', 'name', theirs, 'netns', String(holder.pid))
  run('address', 'add', '10.231.7.1/30', 'dev', ours)
  run('link', 'set', ours, 'up')
  const enter = (...command: string[]): unknown =>
    execFileSync('nsenter', [...inside, 'ip', ...command], { stdio: 'pipe' })
  enter('address', 'add', '10.231.7.2/30', 'dev', theirs)
  enter('link', 'set', theirs, 'up')
  return async (server, path, options) => {
    if (server === 'dashboard') return { status: 403, body: '' }
    const fixed = ['--silent', '--max-time', '5', '--write-out', '\n%{http_code}']
    const url = `http://10.231.7.1:${ports.gateway}${path}`
    const child = spawn(
      'nsenter',
      [...inside, 'curl', ...fixed, '--header', 'Host: localhost', ...options, url],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    )
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    await once(child, 'close')
    const statusAt = text.lastIndexOf('\n')
    return { status: Number(text.slice(statusAt + 1)), body: text.slice(0, statusAt) }
  }
}

function has(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).error === undefined
}

const words: string[] = []
let isKept = true
async function measure(who: string, begin: () => Way | Promise<Way>): Promise<void> {
  const reached = await reach(await begin())
  const { routes: answered, health, lent } = reached
  if (answered > 0 || health || lent) isKept = false
  words.push(
    `${who} ${answered} of ${routes.length}, key ${lent ? 'lent' : 'not lent'}${health ? ', pid told' : ''}`,
  )
}

try {
  const own = await curl(`${direct.gateway}/v1/raw-log/status`)
  const page = await curl(`${direct.dashboard}/api/proxy/status`)
  await curl(`${direct.gateway}/v1/chat/completions`, ['--data', '{"model":"m"}'])
  const isLent = upstream.requests.at(-1)?.header('authorization') === `Bearer ${key}`
  if (own.status !== 200 || page.status !== 200 || !isLent) {
    isKept = false
    words.push('our own user is not let in')
  }
  await measure('nobody', () => over(direct, nobodysId))
  if (has('nginx', '-v')) {
    await measure('nginx with HTTP/1.0', () => nginx('1.0'))
    await measure('nginx with HTTP/1.1', () => nginx('1.1'))
  } else words.push('nginx is not installed: left out')
  if (has('unshare', '--version') && has('ip', '-V')) {
    try {
      await measure('another network namespace', otherNetwork)
    } catch (error) {
      words.push(
        `another network namespace: left out (${error instanceof Error ? error.message : String(error)})`,
      )
    }
  } else words.push('another network namespace: left out')
} finally {
  for (const child of children) child.kill()
}
console.log(`measured: own routes answered: ${words.join('; ')}`)
if (!isKept) process.exitCode = 1
