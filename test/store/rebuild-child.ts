/** Rebuilds a database's sums until it is done or killed: `node rebuild-child.ts <db>`. Says `rebuilding` when it has begun. */
import { systemClock } from '../../src/call/clock.ts'
import { rebuildStore } from '../../src/store/jobs/rebuild-store.ts'

const [path = ''] = process.argv.slice(2)
let saidSo = false
const outcome = await rebuildStore(path, {
  clock: systemClock,
  onProgress: ({ done }) => {
    if (saidSo || done === 0) return
    saidSo = true
    console.log('rebuilding')
  },
})
console.log(JSON.stringify(outcome))
