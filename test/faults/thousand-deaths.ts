/**
 * Many deaths of an upstream in mid-answer before each kind of client, none of which may look like an end:
 * `node test/faults/thousand-deaths.ts [--deaths 1000] [--clients openai,raw,curl] [--width 32]`.
 * Ends with 1 where an unfinished answer was taken for a finished one, or a row does not tell of it.
 */
import { parseArgs } from 'node:util'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { untilIdle, untilRecorded } from '../support/gateway-state.ts'
import { inParallel } from '../support/in-parallel.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { bodyBefore, nameOf, replyOf, upstreamDeaths } from './upstream-deaths.ts'
import { type WatchingClientName, watchingClients } from './watching-clients.ts'

const { values } = parseArgs({
  options: {
    deaths: { type: 'string', default: '1000' },
    clients: { type: 'string', default: 'openai,raw,curl' },
    width: { type: 'string', default: '32' },
  },
})
/** Far longer than the upstream may stand still on a busy machine: before that it is not dead. */
const idleTimeoutMs = 3000
const count = Number(values.deaths)
const plan = Array.from({ length: count }, (_, index) => index % upstreamDeaths.length)

await using upstream = await startSimulatedUpstream({
  reply: ({ target }) => replyOf(upstreamDeaths[Number(/death=(\d+)/.exec(target)![1])]!),
})
await using gateway = await startGatewayProcess({
  upstream: upstream.baseUrl,
  args: ['--max-concurrent', '128', '--idle-timeout-ms', String(idleTimeoutMs)],
})
let recorded = 0
let wrong = 0
for (const name of values.clients.split(',') as WatchingClientName[]) {
  const client = watchingClients[name]
  const startedAtMs = performance.now()
  const clean: string[] = []
  const short: string[] = []
  await inParallel(plan, Number(values.width), async (deathIndex, index) => {
    const death = upstreamDeaths[deathIndex]!
    const session = `${name}-${index}`
    const { streamed } = death
    const seen = await client({ port: gateway.port, streamed, query: { death: String(deathIndex) }, session })
    if (seen.end === 'clean') clean.push(`${nameOf(death)}: ${seen.detail}`)
    if (seen.body !== null && seen.body !== bodyBefore(death)) short.push(nameOf(death))
  })
  recorded += count
  await untilIdle(gateway)
  await untilRecorded(gateway, recorded)
  const rows = readCalls(gateway.databaseFile).filter((row) => row.session?.startsWith(`${name}-`))
  const silent = rows.filter((row) => row.outcome !== 'upstream_cut' || !row.failed).length
  const tookS = ((performance.now() - startedAtMs) / 1000).toFixed(1)
  console.log(
    `${name}: ${count} deaths, ${clean.length} seen as a clean end, ${short.length} delivered short, ` +
      `${rows.length} rows of which ${silent} do not say upstream_cut (${tookS} s)`,
  )
  for (const line of [...clean, ...short]) console.log(`  ${line}`)
  if (clean.length + short.length + silent > 0 || rows.length !== count) process.exitCode = 1
  wrong += clean.length + short.length + silent
}
console.log(
  `measured: ${recorded} deaths before ${values.clients}; ${wrong} seen as a clean end, delivered short or not told by their row`,
)
