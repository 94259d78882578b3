/**
 * A gateway under load, and each fault of its storage in turn: full disk, EIO, read-only, locked, deleted, damaged.
 * `node test/faults/live-storage.ts [--per-second 200] [--hold-ms 3000] [--slowest-ms 1000] [--recover-ms 5000] [--only full]`.
 * As root it also mounts small file systems; with strace it also makes system calls fail. Ends with 1 where a
 * promise was broken.
 */
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { makeTempDir } from '../support/temp-dir.ts'
import { storageFaults } from './storage-faults.ts'
import { brokenPromises, storageRound } from './storage-round.ts'

const { values } = parseArgs({
  options: {
    'per-second': { type: 'string', default: '200' },
    'hold-ms': { type: 'string', default: '3000' },
    'slowest-ms': { type: 'string', default: '1000' },
    'recover-ms': { type: 'string', default: '5000' },
    only: { type: 'string', default: '' },
  },
})
/** From the end of a fault until all is well: the goal is 5 s. */
const limitMs = 60_000
const recoverGoalMs = Number(values['recover-ms'])

const can = {
  nothing: true,
  mount: await canMount(),
  trace: spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0,
}
let calls = 0
let failed = 0
let slowestMs = 0
let slowestRecoveryMs = 0
let faults = 0
const left: string[] = []
for (const fault of storageFaults.filter(({ name }) => name.includes(values.only))) {
  if (!can[fault.needs]) {
    left.push(fault.name)
    continue
  }
  const load = { perSecond: Number(values['per-second']), beforeMs: 1500, holdMs: Number(values['hold-ms']) }
  const figures = await storageRound(fault, { ...load, limitMs })
  const { warnedAfterMs, recoveredAfterMs, slowestBeforeMs, slowestDuringMs } = figures
  const broken = brokenPromises(fault, figures, Number(values['slowest-ms']))
  if (recoveredAfterMs > recoverGoalMs) broken.push(`recovered only after ${recoveredAfterMs} ms`)
  const warned =
    warnedAfterMs === null ? 'no warning wanted' : `degraded after ${Math.round(warnedAfterMs)} ms`
  console.log(
    `${fault.name}: ${figures.calls} calls, ${figures.failed.length} failed, slowest ${slowestBeforeMs.toFixed(0)} ms ` +
      `before and ${slowestDuringMs.toFixed(0)} ms during, ${warned}, well again after ` +
      `${recoveredAfterMs.toFixed(0)} ms, ${figures.rows} rows, ${figures.dropped} dropped, integrity ${figures.integrity}`,
  )
  if (figures.message !== '') console.log(`  ${figures.message}`)
  for (const line of broken) console.log(`  BROKEN: ${line}`)
  if (broken.length > 0) process.exitCode = 1
  faults++
  calls += figures.calls
  failed += figures.failed.length
  slowestMs = Math.max(slowestMs, slowestDuringMs)
  slowestRecoveryMs = Math.max(slowestRecoveryMs, recoveredAfterMs)
}
const missing = left.length === 0 ? '' : `; not tried for want of rights: ${left.join(', ')}`
console.log(
  `measured: ${faults} faults, ${failed} of ${calls} calls failed, slowest call during a fault ${slowestMs.toFixed(0)} ms, ` +
    `well again within ${slowestRecoveryMs.toFixed(0)} ms${missing}`,
)

async function canMount(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false
  await using dir = await makeTempDir()
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir.path]).status !== 0) return false
  return spawnSync('umount', [dir.path]).status === 0
}
