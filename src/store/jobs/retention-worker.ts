/** The entry of the process that folds old calls for a gateway, which starts it in `Retention` and may kill it at any time. */
import { systemClock } from '../../call/clock.ts'
import { compressStore } from './compress-store.ts'

const [, , path, days, bytes] = process.argv
if (path === undefined) throw new Error('retention-worker runs only for a gateway')
// Ctrl-C goes to the whole group: the parent decides when this process ends.
process.on('SIGINT', () => {})
const request = { keepDays: Number(days), keepBytes: Number(bytes), dryRun: false }
const outcome = await compressStore(path, request, { clock: systemClock, onProgress: () => undefined })
process.stdout.write(JSON.stringify(outcome))
