import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startGatewayProcess } from '../test/support/gateway-process.ts'
import { makeTempDir } from '../test/support/temp-dir.ts'
import type { BenchOptions } from './bench-options.ts'
import { Load } from './load.ts'
import { type BenchResult, median, range } from './summary.ts'

const run = promisify(execFile)
const repository = fileURLToPath(new URL('..', import.meta.url))
const goalS = 20
const recordLimitMs = 10_000

/** Since the install began, in seconds. */
export interface FirstCall {
  readonly installedS: number
  readonly answeredS: number
  readonly recordedS: number
}

/** P12: from `npm install` of the packed package in an empty folder to the first call in its database. */
export async function benchFirstCall(options: BenchOptions): Promise<BenchResult> {
  await using packed = await makeTempDir()
  await run('npm', ['pack', '--pack-destination', packed.path], { cwd: repository })
  const [name = ''] = await readdir(packed.path)
  using load = new Load()
  const upstream = `http://127.0.0.1:${await load.start()}/v1`
  // The first fills npm's cache; the others ask no registry.
  await firstCall(packed.file(name), upstream, '--prefer-offline')
  const found: FirstCall[] = []
  for (let round = 0; round < options.rounds; round++)
    found.push(await firstCall(packed.file(name), upstream, '--offline'))
  return firstCallResult(found)
}

async function firstCall(tarball: string, upstream: string, cache: string): Promise<FirstCall> {
  await using folder = await makeTempDir()
  const startMs = performance.now()
  const sinceS = (): number => (performance.now() - startMs) / 1000
  await run('npm', ['install', '--omit=dev', '--no-audit', '--no-fund', cache, tarball], { cwd: folder.path })
  const installedS = sinceS()
  const command = folder.file('node_modules/tokenweir/bin/tokenweir.js')
  await using gateway = await startGatewayProcess({ upstream, directory: folder.path, command })
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'sim-small', messages: [] }),
  })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`the first call was answered ${answer.status}`)
  const answeredS = sinceS()
  await untilRecorded(gateway.databaseFile)
  return { installedS, answeredS, recordedS: sinceS() }
}

async function untilRecorded(path: string): Promise<void> {
  const endMs = performance.now() + recordLimitMs
  while (!isRecorded(path)) {
    if (performance.now() > endMs) throw new Error('the first call is not recorded')
    await delay(5)
  }
}

/** Whether the database, which is made after the gateway listens, holds the call. */
function isRecorded(path: string): boolean {
  try {
    using database = new DatabaseSync(path, { readOnly: true })
    return database.prepare('SELECT count(*) AS calls FROM calls').get()?.['calls'] === 1
  } catch {
    return false
  }
}

export function firstCallResult(found: readonly FirstCall[]): BenchResult {
  const row = (what: string, seconds: readonly number[]): readonly string[] => [
    what,
    median(seconds).toFixed(1),
    range(seconds, 1),
  ]
  const recorded = found.map(({ recordedS }) => recordedS)
  return {
    name: 'p12-first-call',
    title: `P12: production install of the packed package to its first recorded call, ${found.length} rounds, packages cached`,
    table: [
      ['since the start, until', 's', 'range'],
      row(
        'installed',
        found.map(({ installedS }) => installedS),
      ),
      row(
        'answered',
        found.map(({ answeredS }) => answeredS),
      ),
      row('recorded', recorded),
    ],
    goals: [{ what: 'first recorded call', value: median(recorded), atMost: goalS, unit: 's' }],
    notes: [],
    data: found,
  }
}
