import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { makeTempDir } from './temp-dir.ts'
import { untilListening } from './until-listening.ts'

const run = promisify(execFile)
const programs = ['prometheus', 'promtool'] as const
const unpackedFolder = fileURLToPath(new URL('../node_modules/.cache/prometheus', import.meta.url))

/** The folder with `prometheus` and `promtool`, with a slash at its end; empty if they are in the PATH. Throws if there is none. */
export function prometheusFolder(): string {
  if (programs.every((name) => spawnSync(name, ['--version']).error === undefined)) return ''
  const folder = join(unpackedFolder, 'usr/bin/')
  if (programs.every((name) => existsSync(folder + name))) return folder
  throw new Error(`the tests need ${programs.join(' and ')}: \`npm test\` gets them, or install them`)
}

/**
 * Unpacks Debian's package, where it is missing. It is not installed: that would start a service, on the very port of
 * the gateway.
 */
export async function unpackPrometheus(): Promise<void> {
  try {
    prometheusFolder()
    return
  } catch {
    await mkdir(join(unpackedFolder, '..'), { recursive: true })
  }
  const folder = await mkdtemp(`${unpackedFolder}-`)
  try {
    await download(folder)
    const name = (await readdir(folder)).find((file) => file.endsWith('.deb')) ?? ''
    await run('dpkg', ['-x', join(folder, name), folder])
    await rm(join(folder, name))
    await rename(folder, unpackedFolder)
  } catch (cause) {
    await rm(folder, { recursive: true, force: true })
    const how = 'on Debian, `apt-get update` as root lets the tests get them'
    throw new Error(`the tests need ${programs.join(' and ')}: ${how}`, { cause })
  }
}

/** Only root can have the list of packages brought up to date; a list that is there serves everybody. */
async function download(folder: string): Promise<void> {
  const get = (): Promise<unknown> => run('apt-get', ['download', 'prometheus'], { cwd: folder })
  await get().catch(async () => {
    await run('apt-get', ['update'])
    await get()
  })
}

/** Runs promtool and gives what it says; throws if it finds fault. */
export function promtool(args: readonly string[], options: { cwd?: string; input?: string } = {}): string {
  const { stdout, stderr, status } = spawnSync(`${prometheusFolder()}promtool`, args, {
    ...options,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`promtool ${args.join(' ')}: ${status}\n${stdout}${stderr}`)
  return stdout + stderr
}

/** A value, at a time in seconds since the Unix epoch. */
export type Sample = readonly [atS: number, value: number]

export interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly samples: readonly Sample[]
}

/** A real Prometheus, on a free port of loopback. */
export interface Prometheus extends AsyncDisposable {
  /** What an expression gives at a time in seconds, now unless told. */
  query(expression: string, atS?: number): Promise<readonly Series[]>
  /** Any other answer of its API. */
  api(path: string): Promise<unknown>
}

/** `await using prometheus = await startPrometheus(config)`, the text of a configuration file. */
export async function startPrometheus(config: string): Promise<Prometheus> {
  await using cleanup = new AsyncDisposableStack()
  const dir = cleanup.use(await makeTempDir())
  await writeFile(dir.file('prometheus.yml'), config)
  const port = await freePort()
  const args = [
    `--config.file=${dir.file('prometheus.yml')}`,
    `--storage.tsdb.path=${dir.file('tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=warn',
  ]
  const child = spawn(`${prometheusFolder()}prometheus`, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  cleanup.defer(() => end(child))
  await untilListening(port, child)
  const owned = cleanup.move()

  const api = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const body = (await response.json()) as { readonly data: unknown; readonly error?: string }
    if (!response.ok) throw new Error(`${path}: ${response.status} ${body.error}`)
    return body.data
  }
  return {
    api,
    query: async (expression, atS) => {
      const time = atS === undefined ? {} : { time: String(atS) }
      const asked = new URLSearchParams({ query: expression, ...time })
      const { result } = (await api(`query?${asked.toString()}`)) as { readonly result: readonly Found[] }
      return result.map(({ metric, value, values = value === undefined ? [] : [value] }) => ({
        labels: metric,
        samples: values.map(([at, text]): Sample => [at, Number(text)]),
      }))
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A series in an answer: of an instant, or of a range. */
interface Found {
  readonly metric: Readonly<Record<string, string>>
  readonly value?: readonly [number, string]
  readonly values?: readonly (readonly [number, string])[]
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}
