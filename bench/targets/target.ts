import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { startGatewayProcess } from '../../test/support/gateway-process.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { nginxConfig } from './nginx-config.ts'
import { end } from './proxy-process.ts'
import { untilListening } from '../../test/support/until-listening.ts'
import { rivalAbsence, startPortkey, startSimpleRouter } from './rivals.ts'

/** The default targets: `bare` is the yardstick of Node, `nginx` that of the machine. */
export const defaultTargets = ['bare', 'nginx', 'tokenweir'] as const
/** Other gateways, measured when they are named. */
const rivals = ['portkey', 'simple-router'] as const
export const targetNames = [...defaultTargets, ...rivals] as const
export type TargetName = (typeof targetNames)[number]

/** A proxy in a process of its own that stands before the benchmarks' upstream. */
export interface Target extends AsyncDisposable {
  readonly name: TargetName
  readonly pid: number
  readonly port: number
  /** Extra headers that requests to it need; they replace usual headers of the same name. */
  readonly headers: Readonly<Record<string, string>>
}

/** Above the number of calls in flight in any benchmark, so that none waits for a slot. */
const maxConcurrent = 20_000
const simpleRouterStreams = 50
const nginxPaths = [
  '/usr/sbin/nginx',
  '/usr/local/sbin/nginx',
  '/usr/local/bin/nginx',
  '/opt/homebrew/bin/nginx',
]
const gatewayCommand = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

/** Why a target cannot be measured here, in one line; `undefined` when it can. */
export function absence(name: TargetName): string | undefined {
  if (name === 'nginx' && nginxPath() === undefined)
    return 'nginx is not installed; on Debian: apt-get install nginx-light'
  if (name === 'tokenweir' && !existsSync(gatewayCommand)) return 'bin/tokenweir.js is not there'
  return rivals.some((rival) => rival === name) ? rivalAbsence(name) : undefined
}

/** Why a target cannot hold that many streams open, in one line; "many" if `streams` is undefined. */
export function streamAbsence(name: TargetName, streams: number | undefined): string | undefined {
  if (name === 'portkey') return 'each of its streams fails in Node 24 (TypeError: immutable)'
  if (name === 'simple-router' && !(streams !== undefined && streams <= simpleRouterStreams))
    return `it opens at most ${simpleRouterStreams} connections to an upstream; measure it with --clients ${simpleRouterStreams}`
  return undefined
}

export function startTarget(name: TargetName, upstreamPort: number): Promise<Target> {
  const start = {
    bare: startBare,
    nginx: startNginx,
    tokenweir: startTokenweir,
    portkey: startPortkey,
    'simple-router': startSimpleRouter,
  }
  return start[name](upstreamPort)
}

/** Starts all of them, one after the other; `stack` ends them. */
export async function startTargets(
  names: readonly TargetName[],
  upstreamPort: number,
  stack: AsyncDisposableStack,
): Promise<readonly Target[]> {
  const targets: Target[] = []
  for (const name of names) targets.push(stack.use(await startTarget(name, upstreamPort)))
  return targets
}

async function startBare(upstreamPort: number): Promise<Target> {
  const program = fileURLToPath(new URL('bare-proxy.ts', import.meta.url))
  const args = [program, `http://127.0.0.1:${upstreamPort}`]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  for await (const text of child.stdout.setEncoding('utf8')) {
    const match = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(String(text))
    if (match !== null) return target('bare', child, Number(match[1]))
  }
  throw new Error('the bare proxy did not start')
}

async function startNginx(upstreamPort: number): Promise<Target> {
  await using cleanup = new AsyncDisposableStack()
  const dir = cleanup.use(await makeTempDir())
  // nginx cannot choose a port itself.
  const port = await freePort()
  await writeFile(dir.file('nginx.conf'), nginxConfig({ port, upstreamPort, directory: dir.path }))
  const args = ['-p', dir.path, '-c', dir.file('nginx.conf'), '-e', 'stderr']
  const child = spawn(nginxPath()!, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  cleanup.defer(() => end(child))
  await untilListening(port, child)
  const owned = cleanup.move()
  return {
    name: 'nginx',
    pid: child.pid!,
    port,
    headers: {},
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** The real command with everything on: metering, recording, store. */
async function startTokenweir(upstreamPort: number): Promise<Target> {
  const upstream = `http://127.0.0.1:${upstreamPort}/v1`
  const gateway = await startGatewayProcess({ upstream, args: ['--max-concurrent', String(maxConcurrent)] })
  const { pid, port } = gateway
  return {
    name: 'tokenweir',
    pid,
    port,
    headers: {},
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

function target(name: TargetName, child: ChildProcess, port: number): Target {
  return { name, pid: child.pid!, port, headers: {}, [Symbol.asyncDispose]: () => end(child) }
}

function nginxPath(): string | undefined {
  return nginxPaths.find((path) => existsSync(path))
}
