/**
 * `kill -9` of a working gateway at random instants: `node test/faults/kill-nine.ts [--rounds 20] [--loss-ms 100]`.
 * Ends with 1 where a promise was broken.
 */
import { parseArgs } from 'node:util'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { type KillFigures, killRound } from './kill-round.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '20' }, 'loss-ms': { type: 'string', default: '100' } },
})
const lossLimitMs = Number(values['loss-ms'])
/** An open call is noted at the second tick after its beginning. */
const untracedLimitMs = 1.5 * lossLimitMs

await using dir = await makeTempDir()
await using upstream = await startSimulatedUpstream({ model: { gapMs: 2 } })
const all: KillFigures[] = []
for (let round = 0; round < Number(values.rounds); round++) {
  const figures = await killRound(upstream, dir.path, round)
  all.push(figures)
  const { reached, finished, interrupted, lostMs, untracedMs, healthMs } = figures
  console.log(
    `round ${round}: ${reached} calls reached the upstream, ${finished} finished, ${interrupted} interrupted, ` +
      `lost ${lostMs.toFixed(1)} ms, without a trace ${untracedMs.toFixed(1)} ms, /health after ${healthMs.toFixed(1)} ms`,
  )
}
const most = (of: (figures: KillFigures) => number): number => Math.max(...all.map(of))
const sum = (of: (figures: KillFigures) => number): number =>
  all.reduce((total, figures) => total + of(figures), 0)
const lostMs = most((figures) => figures.lostMs)
const untracedMs = most((figures) => figures.untracedMs)
console.log(
  `measured: ${all.length} kills: ${sum((each) => each.reached)} calls at the upstream, ` +
    `${sum((each) => each.interrupted)} interrupted; lost at most ${lostMs.toFixed(1)} ms, without a trace ${untracedMs.toFixed(1)} ms; ` +
    `/health within ${most((each) => each.healthMs).toFixed(1)} ms; integrity and budget right each time`,
)
if (lostMs > lossLimitMs || untracedMs > untracedLimitMs) process.exitCode = 1
