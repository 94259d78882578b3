/**
 * Does a job on a database until it is done or killed: `node job-child.ts <db> compress <keep days>`, `rebuild` or
 * `reprice <factor>`. Says `begun` when the first calls or days are done.
 */
import { systemClock as clock } from '../../src/call/clock.ts'
import { compressStore } from '../../src/store/jobs/compress-store.ts'
import { rebuildStore } from '../../src/store/jobs/rebuild-store.ts'
import { repriceStore } from '../../src/store/jobs/reprice-store.ts'
import { priceBy } from './priced-by.ts'

const [path = '', job = '', amount = ''] = process.argv.slice(2)
const all = { fromMs: 0, toMs: 8e12, model: null, onlyUnpriced: false, dryRun: false, timeZone: 'UTC' }
let saidBegun = false

function onProgress({ phase = 'fold', done }: { readonly phase?: string; readonly done: number }): void {
  if (saidBegun || phase !== 'fold' || done === 0) return
  saidBegun = true
  console.log('begun')
}

if (job === 'compress')
  await compressStore(path, { keepDays: Number(amount), dryRun: false }, { clock, onProgress })
else if (job === 'rebuild') await rebuildStore(path, { clock, onProgress })
else await repriceStore(path, all, { pricer: priceBy(Number(amount)), clock, onProgress })
