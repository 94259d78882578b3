/**
 * Compresses a database until it is done or killed: `node compress-child.ts <db> <keep days>`. Says `folding` when
 * the first calls are gone, and the outcome as JSON at the end.
 */
import { systemClock } from '../../src/call/clock.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'

const [path = '', keepDays = ''] = process.argv.slice(2)
let saidFolding = false
const outcome = await compressStore(
  path,
  { keepDays: Number(keepDays), dryRun: false },
  {
    clock: systemClock,
    onProgress: ({ phase, done }) => {
      if (saidFolding || phase !== 'fold' || done === 0) return
      saidFolding = true
      console.log('folding')
    },
  },
)
console.log(JSON.stringify(outcome))
