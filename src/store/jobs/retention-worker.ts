/** The entry of the process that folds old calls for a gateway. `Retention` starts it and may kill it at any time. */
import { systemClock } from '../../call/clock.ts'
import { compressStore, usedBytes } from './compress-store.ts'
import { readStore } from './job.ts'

const [, , path, days, bytes] = process.argv
if (path === undefined) throw new Error('retention-worker runs only for a gateway')
// Ctrl-C goes to the whole process group, but only the parent decides when this process ends.
process.on('SIGINT', () => {})
const request = { keepDays: Number(days), keepBytes: Number(bytes), isAutomatic: true, dryRun: false }
const outcome = await compressStore(path, request, { clock: systemClock, onProgress: () => undefined })
const used = await readStore(path, usedBytes)
process.stdout.write(JSON.stringify(typeof outcome === 'string' ? outcome : { ...outcome, used_bytes: used }))
