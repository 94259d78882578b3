/** Other gateways from npm, in `bench/rivals`: installed when they are first needed, and kept to loopback. */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/support/free-port.ts'
import { installPackages } from '../../test/support/install-packages.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { end } from './proxy-process.ts'
import { untilListening } from '../../test/support/until-listening.ts'
import type { Target, TargetName } from './target.ts'

const folder = fileURLToPath(new URL('../rivals/', import.meta.url))
const guard = new URL('loopback-only.ts', import.meta.url).href
const portkeyCommand = `${folder}node_modules/@portkey-ai/gateway/build/start-server.js`
const simpleRouterCommand = `${folder}node_modules/llm-simple-router/dist/cli.js`

/** Installs them, without scripts, as none is needed; why one cannot be measured, in one line, or `undefined` if it can. */
export function rivalAbsence(name: TargetName): string | undefined {
  try {
    installPackages(folder, ['--ignore-scripts'])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  if (name !== 'simple-router') return undefined
  const open = `new (require('better-sqlite3'))(':memory:')`
  const loads = spawnSync(process.execPath, ['-e', open], { cwd: folder }).status === 0
  return loads ? undefined : `better-sqlite3 does not load in Node ${process.version} on this platform`
}

/** Portkey's gateway, which chooses the upstream by headers of its own. */
export async function startPortkey(upstreamPort: number): Promise<Target> {
  const port = await freePort()
  const headers = {
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
  }
  return {
    ...(await startRival('portkey', [portkeyCommand, '--headless', `--port=${port}`], port, {})),
    headers,
  }
}

/** llm-simple-router, set up through its own API as its page does it: one upstream, one model, one key. */
export async function startSimpleRouter(upstreamPort: number): Promise<Target> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(await makeTempDir())
  const port = await freePort()
  const env = { ...process.env, PORT: String(port), HOME: dir.path, DB_PATH: dir.file('router.db') }
  const rival = stack.use(
    await startRival('simple-router', [simpleRouterCommand], port, { env, cwd: dir.path }),
  )
  const model = 'sim-small'
  const cookie = (await ask(port, 'setup/initialize', { password: 'of-a-benchmark' }, '')).cookie
  const provider = {
    name: 'simulated',
    api_type: 'openai',
    base_url: `http://127.0.0.1:${upstreamPort}`,
    api_key: 'sk-simulated-0000000000000000',
    models: [{ name: model }],
    concurrency_mode: 'none',
    max_concurrency: 0,
  }
  const mappings = [{ client_model: model, backend_model: model }]
  await ask(port, 'quick-setup', { provider, mappings, retry_rules: [] }, cookie)
  const { key } = await ask(port, 'router-keys', { name: 'benchmark' }, cookie)
  const owned = stack.move()
  return {
    ...rival,
    headers: { Authorization: `Bearer ${key}` },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function ask(
  port: number,
  path: string,
  body: object,
  cookie: string,
): Promise<{ readonly cookie: string; readonly key: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/admin/api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`simple-router: ${path} was answered ${answer.status} ${text}`)
  const { key = '', data } = JSON.parse(text) as {
    readonly key?: string
    readonly data?: { readonly key?: string }
  }
  return { cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', key: data?.key ?? key }
}

async function startRival(
  name: TargetName,
  command: readonly string[],
  port: number,
  options: SpawnOptions,
): Promise<Target> {
  const child = spawn(process.execPath, ['--import', guard, ...command], {
    ...options,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => end(child))
  await untilListening(port, child)
  const owned = stack.move()
  return { name, pid: child.pid!, port, headers: {}, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}
