/**
 * `kill -9` of the old or the new gateway at random instants of a restart:
 * `node test/faults/kill-in-restart.ts [--rounds 20]`. Whoever is left, one start must make one healthy gateway, with every
 * call that reached the upstream in one row, but those of the tenth of a second before a kill. Ends with 1 where that is not so.
 */
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../support/free-port.ts'
import { openCallIds } from '../support/open-calls.ts'
import { readCalls } from '../support/recorded-calls.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { InFlight, startCountedUpstream } from '../supervisor/counted-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { SteadyLoad } from '../supervisor/steady-load.ts'
import { makeWorkplace } from '../supervisor/workplace.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
/** Longer than a restart takes, so that kills after it are among them. */
const latestKillMs = 900
const random = seededRandom(1)

const inFlight = new InFlight()
await using upstream = await startCountedUpstream(inFlight)
await using place = await makeWorkplace()
const port = await freePort()
const most = 8
const callsPerS = 50
const supervisor = place.supervisor({
  args: [
    `--port=${port}`,
    `--upstream=${upstream.baseUrl}`,
    `--max-concurrent=${most}`,
    '--slot-cooldown-ms=0',
  ],
})
let bad = 0
let slowestMs = 0
for (let round = 1; round <= Number(values.rounds); round++) {
  await supervisor.start()
  const load = new SteadyLoad({ port, callsPerS, callMs: 10, streams: 3, streamMs: 600 })
  await sleep(200)
  const [old] = place.gateways()
  const killAfterMs = random() * latestKillMs
  const restarted = supervisor.restart().then(
    () => 'restarted',
    (error: unknown) => String(error),
  )
  await sleep(killAfterMs)
  const other = place.gateways().find((pid) => pid !== old)
  const victim = round % 2 === 0 ? old : (other ?? old)
  if (victim !== undefined && place.gateways().includes(victim)) process.kill(victim, 'SIGKILL')
  const outcome = await restarted
  const startedAt = performance.now()
  const status = await supervisor.start()
  slowestMs = Math.max(slowestMs, performance.now() - startedAt)
  await sleep(200)
  const after = await supervisor.status()
  const isWell = after.state === 'running' && after.health_ok && after.pid === status.pid
  if (!isWell) bad += 1
  await load.stop()
  await eventually('predecessors to end', () => place.gateways().length === 1)
  const who = victim === old ? 'old' : 'new'
  console.log(
    `round ${round}: the ${who} one killed after ${killAfterMs.toFixed(0)} ms; ${outcome}; ${after.state}`,
  )
}
await supervisor.stop()
// What the killed ones have left is found by the next start.
await supervisor.start()
await eventually(
  'calls of dead gateways to be rows',
  () => openCallIds(place.file('telemetry.db')).length === 0,
)
await supervisor.stop()
const rows = readCalls(place.file('telemetry.db'))
const interrupted = rows.filter(({ outcome }) => outcome === 'interrupted').length
console.log(
  `measured: ${values.rounds} kills: ${bad} wrong states; ${inFlight.total} calls at the upstream, ${rows.length} rows, ` +
    `${interrupted} of them interrupted; at most ${inFlight.most} of ${most} at the upstream; ` +
    `the next start took up to ${slowestMs.toFixed(0)} ms`,
)
/** Of each kill: calls that began or ended within so long before it, and the streams. */
const lostAtMost = Number(values.rounds) * (0.25 * callsPerS + 3)
if (bad > 0 || rows.length < inFlight.total - lostAtMost || rows.length > inFlight.total) process.exitCode = 1
