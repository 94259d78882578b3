import { systemClock } from '../../call/clock.ts'
import { lowerPriority } from '../../lib/lower-priority.ts'
import { checkStore } from '../../store/jobs/check-store.ts'
import { compressStore } from '../../store/jobs/compress-store.ts'
import { readPricesInForce, priceFileOf } from '../../pricing/price-file.ts'
import { rebuildStore } from '../../store/jobs/rebuild-store.ts'
import { repriceStore } from '../../store/jobs/reprice-store.ts'
import { undoReprice } from '../../store/jobs/undo-reprice.ts'
import type { CheckContext } from './db-check.ts'
import type { CompressContext } from './db-compress.ts'
import type { RebuildContext } from './db-rebuild.ts'
import type { RepriceContext } from './db-reprice.ts'

/** Calls go before the long jobs, also where nobody but a terminal began them. The world of `tokenweir db …`: this machine's clock, the real store, and the terminal. */
export function dbContext({
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'stdout' | 'stderr'>): CompressContext &
  CheckContext &
  RebuildContext &
  RepriceContext {
  return {
    clock: systemClock,
    compress: (...request) => {
      lowerPriority(process.pid)
      return compressStore(...request)
    },
    check: checkStore,
    rebuild: (...request) => {
      lowerPriority(process.pid)
      return rebuildStore(...request)
    },
    reprice: (...request) => {
      lowerPriority(process.pid)
      return repriceStore(...request)
    },
    undo: (...request) => {
      lowerPriority(process.pid)
      return undoReprice(...request)
    },
    prices: (path) => readPricesInForce(priceFileOf(path)),
    print: (text) => stdout.write(text),
    warn: (text) => stderr.write(text),
    isTerminal: stdout.isTTY,
  }
}
