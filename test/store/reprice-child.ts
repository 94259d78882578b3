/** Prices all calls of a database anew until it is done or killed: `node reprice-child.ts <db> <factor>`. Says `begun` when the first calls are. */
import { systemClock } from '../../src/call/clock.ts'
import { repriceStore } from '../../src/store/jobs/reprice-store.ts'
import { priceBy } from './priced-by.ts'

const [path = '', factor = ''] = process.argv.slice(2)
let saidBegun = false
const outcome = await repriceStore(
  path,
  { fromMs: 0, toMs: 8e12, model: null, onlyUnpriced: false, dryRun: false, timeZone: 'UTC' },
  {
    pricer: priceBy(Number(factor)),
    clock: systemClock,
    onProgress: ({ done }) => {
      if (saidBegun || done === 0) return
      saidBegun = true
      console.log('begun')
    },
  },
)
console.log(JSON.stringify(outcome))
