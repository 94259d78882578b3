import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import { nginxConfig } from './nginx-config.ts'

/** What is measured: `bare` is the yardstick of Node, `nginx` that of the machine. */
export const targetNames = ['bare', 'nginx', 'tokenweir'] as const
export type TargetName = (typeof targetNames)[number]

/** A proxy in a process of its own that stands before the benchmarks' upstream. */
export interface Target extends AsyncDisposable {
  readonly name: TargetName
  readonly pid: number
  readonly port: number
}

/** Above the number of calls in flight in any benchmark, so that none waits for a slot. */
const maxConcurrent = 20_000
const nginxPaths = [
  '/usr/sbin/nginx',
  '/usr/local/sbin/nginx',
  '/usr/local/bin/nginx',
  '/opt/homebrew/bin/nginx',
]
const gatewayCommand = fileURLToPath(new URL('../bin/tokenweir.js', import.meta.url))

/** Why a target cannot be measured here, in one line; `undefined` when it can. */
export function absence(name: TargetName): string | undefined {
  if (name === 'nginx' && nginxPath() === undefined)
    return 'nginx is not installed; on Debian: apt-get install nginx-light'
  if (name === 'tokenweir' && !existsSync(gatewayCommand)) return 'bin/tokenweir.js is not there'
  return undefined
}

export function startTarget(name: TargetName, upstreamPort: number): Promise<Target> {
  const start = { bare: startBare, nginx: startNginx, tokenweir: startTokenweir }
  return start[name](upstreamPort)
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
  const port = await freePort()
  await writeFile(dir.file('nginx.conf'), nginxConfig({ port, upstreamPort, directory: dir.path }))
  const args = ['-p', dir.path, '-c', dir.file('nginx.conf'), '-e', 'stderr']
  const child = spawn(nginxPath()!, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  cleanup.defer(() => end(child))
  await untilListening(port)
  const owned = cleanup.move()
  return { name: 'nginx', pid: child.pid!, port, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** The real command with everything on: metering, journal, recording, store. */
async function startTokenweir(upstreamPort: number): Promise<Target> {
  const upstream = `http://127.0.0.1:${upstreamPort}/v1`
  const gateway = await startGatewayProcess({ upstream, args: ['--max-concurrent', String(maxConcurrent)] })
  const { pid, port } = gateway
  return { name: 'tokenweir', pid, port, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() }
}

function target(name: TargetName, child: ChildProcess, port: number): Target {
  return { name, pid: child.pid!, port, [Symbol.asyncDispose]: () => end(child) }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

function nginxPath(): string | undefined {
  return nginxPaths.find((path) => existsSync(path))
}

/** nginx cannot choose a port itself: one that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

async function untilListening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = connect(port, '127.0.0.1')
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(
        () => false,
        () => false,
      ),
    ]).catch(() => false)
    socket.destroy()
    if (open) return
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
  throw new Error(`nothing listens on port ${port}`)
}
