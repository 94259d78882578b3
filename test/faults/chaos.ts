/**
 * Everything at once, in any order: `npm run test:faults -- chaos [--minutes 30] [--seed 1]`. `tokenweir up` serves clients
 * with books of their own through an endless incident at the upstream. Beside them strangers send hostile bytes to both ports,
 * a second upstream answers with broken bytes, and every few seconds the gateway is restarted, killed or paused, or a hostile
 * file takes the place of one of its settings. In the end both processes live, all slots are back, memory and descriptors are
 * within bounds, and the rows are what the books say. Ends with 1 where something does not hold.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  answerTo,
  brokenAnswers,
  brokenModel,
  brokenSession,
  faultOf,
  replyTo,
} from '../support/broken-answers.ts'
import {
  type HostileKind,
  dashboardKinds,
  gatewayKinds,
  hostileEnds,
  playHostile,
  sessionOf,
} from '../support/hostile-connections.ts'
import { eventually } from '../support/eventually.ts'
import { hostileContents, hostileKinds } from '../support/hostile-files.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { writeUpstreams } from '../support/upstreams-file.ts'
import { balance, readRows } from './soak/day-books.ts'
import { quantile } from './soak/day-limits.ts'
import { slots, startDayPlace } from './soak/day-place.ts'

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
})
const minutes = Number(values.minutes)
/** In the middle of the day's incident: two of five calls are answered 429 or 500, cut, or hang. */
const incidentHour = 15.5
const loops = { gateway: 8, dashboard: 4, broken: 4 } as const
const between = { fewestMs: 1000, moreMs: 6000 } as const
const pauseMs = 400
const strangerRestMs = 20
/** More than the memory of a process that is warm varies by. */
const mostGrownMb = 50
/** In megabytes, at any moment. */
const mostMb = { gateway: 500, dashboard: 450, queries: 400 } as const
/** A shorter run ends before everything is compiled and every buffer has its size. */
const warmAfterMinutes = 10
const goodClients = '{"nobody": {"max_concurrent": 3}}'

const random = seededRandom(Number(values.seed))
function any<T>(list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!
}

const manyBroken = [...brokenAnswers(20_000)]
await using brokenUpstream = await startSimulatedUpstream({
  // The gateway asks it for its list of models, too.
  reply: ({ target }) => replyTo(manyBroken[Number(/broken=(\d+)/.exec(target)?.[1])] ?? any(manyBroken)),
})
await using place = await startDayPlace({
  seed: Number(values.seed),
  hour: () => incidentHour,
  sampleEveryMs: 500,
  args: ['--first-byte-timeout-ms', '3000'],
  prepare: async (directory) => {
    const data = join(directory, 'data')
    writeUpstreams(data, [{ name: 'broken', urls: [brokenUpstream.baseUrl], models: [brokenModel] }])
    writeFileSync(join(data, 'clients.json'), goodClients)
  },
})
const { directory, databaseFile, port, up, clients, upstream, watch, chores } = place
const dashboardPort = Number(new URL(up.dashboard).port)
const endMs = performance.now() + minutes * 60_000
const since = new Date().toISOString()
const faults: string[] = []
const counts = { strangers: 0, broken: 0, pauses: 0, files: 0 }
const isOver = (): boolean => performance.now() >= endMs

/** Of what meets a kill, or the time until the gateway is up again, nothing can be said. */
async function unlessKilled(work: () => Promise<string | null>): Promise<void> {
  const kills = chores.killedAtMs.length
  const wasDown = watch.isGatewayDown
  const fault = await work().catch((error: unknown) => String(error))
  if (fault !== null && !wasDown && kills === chores.killedAtMs.length) faults.push(fault)
}

async function strangers(to: number, kinds: readonly HostileKind[]): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const kind = any(kinds)
    const session = sessionOf(n % 1e6)
    const at = 1 + Math.floor(random() * kind.bytes(session).length)
    const end = any(hostileEnds)
    await unlessKilled(async () => {
      await playHostile(to, { kind, at, end, session })
      return null
    })
    counts.strangers += 1
    await sleep(strangerRestMs)
  }
}

async function callsOfBrokenUpstream(): Promise<void> {
  while (!isOver()) {
    const index = Math.floor(random() * manyBroken.length)
    await unlessKilled(async () => faultOf(manyBroken[index]!, await answerTo(port, index)))
    counts.broken += 1
    await sleep(strangerRestMs)
  }
}

async function pause(): Promise<void> {
  const { pid } = await chores.status()
  if (pid === null) throw new Error('there is no gateway to pause')
  process.kill(pid, 'SIGSTOP')
  await sleep(pauseMs)
  process.kill(pid, 'SIGCONT')
  counts.pauses += 1
}

/** Until the next upheaval is over, which may be a restart or a kill. */
async function hostileFile(): Promise<void> {
  const path = join(directory, 'data', 'clients.json')
  rmSync(path, { force: true })
  const undo = await any([...hostileContents, ...hostileKinds]).place(path)
  await sleep(pauseMs)
  await any([() => chores.restart(), () => chores.kill(), pause])()
  undo()
  writeFileSync(path, goodClients)
  await eventually('the file of clients that is whole again to be read', async () => {
    const { health } = await chores.status()
    return health?.warnings.every(({ code }) => code !== 'broken_clients_file') ?? null
  })
  counts.files += 1
}

async function upheavals(): Promise<void> {
  while (!isOver()) {
    await sleep(between.fewestMs + random() * between.moreMs)
    const work = any([() => chores.restart(), () => chores.kill(), pause, hostileFile])
    await work().catch((error: unknown) => faults.push(String(error)))
  }
}

clients.start(() => incidentHour)
await Promise.all([
  ...Array.from({ length: loops.gateway }, () => strangers(port, gatewayKinds)),
  ...Array.from({ length: loops.dashboard }, () => strangers(dashboardPort, dashboardKinds)),
  ...Array.from({ length: loops.broken }, callsOfBrokenUpstream),
  upheavals(),
])
await clients.stop()
const { pid, health } = await place.settled()
await watch.stop()
faults.push(...watch.troubles)
if (pid === null || health === null) faults.push('the gateway is not up')
else {
  faults.push(...(await place.filesBack(pid)).faults)
  for (const { name, rate_limiter: held } of health.upstreams ?? [])
    if (held.active + held.queued > 0) faults.push(`${name}: ${held.active} slots are not back`)
  for (const { code, message } of health.warnings) faults.push(`warning ${code}: ${message}`)
}
for (const name of ['gateway', 'dashboard', 'queries'] as const) {
  const third = Math.floor(watch.samples.length / 3)
  const sizes = watch.samples.map((sample) => sample[name])
  const medianOf = (from: number): number => quantile(sizes.slice(from, from + third), 0.5)
  // A leak lifts every sample. The largest one is of whichever process lived the longest between two kills.
  const grownMb = medianOf(2 * third) - medianOf(third)
  const largestMb = Math.max(0, ...sizes)
  if (minutes >= warmAfterMinutes && grownMb > mostGrownMb)
    faults.push(`${name}: ${grownMb.toFixed(0)} MB more in the last third`)
  if (largestMb > mostMb[name]) faults.push(`${name}: ${largestMb.toFixed(0)} MB of at most ${mostMb[name]}`)
}
await chores.setPrices(1)
await chores.reprice()
const check = await chores.run('db', 'check', '--full')
if (check.code !== 0) faults.push(`db check: ${check.text}`)
const rows = readRows(databaseFile, since)
if (new Set(rows.map(({ id }) => id)).size < rows.length) faults.push('a call has two rows')
const ofClients = rows.filter(({ session }) => session !== brokenSession && !/^s\d{6}$/.test(session ?? ''))
const books = balance(ofClients, clients.calls, upstream, chores.killedAtMs)
faults.push(...books.faults)
if (upstream.inFlight.most > slots) faults.push(`${upstream.inFlight.most} calls at once at the upstream`)

for (const fault of faults.slice(0, 40)) console.log(`  ✗ ${fault}`)
if (faults.length > 40) console.log(`  ✗ … and ${faults.length - 40} more`)
console.log(
  `measured: ${minutes} minutes, ${counts.strangers} hostile connections, ${counts.broken} broken answers, ` +
    `${counts.files} hostile files, ${counts.pauses} pauses, ${chores.killedAtMs.length} kills, ${chores.restarts} restarts; ` +
    `${clients.calls.length} calls of clients in ${books.rows} rows, ${books.tokens.rows} tokens of ${books.tokens.books}; ` +
    `at most ${upstream.inFlight.most} of ${slots} at the upstream; ${faults.length} faults`,
)
if (faults.length > 0) process.exitCode = 1
