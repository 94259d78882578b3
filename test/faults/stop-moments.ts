/**
 * Ctrl-C twice, SIGTERM to the group or to every process, SIGHUP, at random moments from the start of each command on:
 * `node test/faults/stop-moments.ts [--moments 100] [--seed 43]`. Nothing may be left running, and no stack be printed.
 */
import { parseArgs } from 'node:util'
import { stopAtMoment, stopCommands, stopWays } from '../cli/stop-moments.ts'
import { seededRandom } from '../support/seeded-random.ts'

const { values } = parseArgs({
  options: { moments: { type: 'string', default: '100' }, seed: { type: 'string', default: '43' } },
})
/** A command is up long before, on an idle machine. */
const latestMs = 2500
const latestAgainMs = 400

const random = seededRandom(Number(values.seed))
let bad = 0
for (let index = 0; index < Number(values.moments); index++) {
  const command = stopCommands[index % stopCommands.length]!
  const way = stopWays[Math.floor(random() * stopWays.length)]!
  const moment = { command, way, afterMs: random() * latestMs, againAfterMs: random() * latestAgainMs }
  const problems = await stopAtMoment(moment)
  if (problems.length === 0) continue
  bad += 1
  console.log(`${command}, ${way} after ${moment.afterMs.toFixed(0)} ms: ${problems.join('; ')}`)
}
console.log(`measured: ${values.moments} stops: ${bad} with something left running, or a stack printed`)
if (bad > 0) process.exitCode = 1
