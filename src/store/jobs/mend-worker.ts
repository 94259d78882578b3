/** The entry of the process that computes sums again after a damaged page. `startMending` starts it. */
import { systemClock } from '../../call/clock.ts'
import { rebuildStore } from './rebuild-store.ts'

const [, , path] = process.argv
if (path === undefined) throw new Error('mend-worker runs only for another process')
// Ctrl-C goes to the whole process group, but this process ends when it is done.
process.on('SIGINT', () => {})
await rebuildStore(path, { clock: systemClock, onProgress: () => undefined })
