import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemClock } from '../../call/clock.ts'
import {
  lockPriceFile,
  readPriceFile,
  readPricesInForce,
  shippedPriceFile,
  writePriceFile,
} from '../../pricing/price-file.ts'
import type { CostsSetContext } from './costs-set.ts'
import type { CostsShowContext } from './costs-show.ts'

/** Others hold the lock for as long as reading and writing a file takes. */
const lockLimitMs = 5000

/** The world of `tokenweir costs show` and `set`: this machine's clock, its files, and the terminal. */
export function costsContext({
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'stdout' | 'stderr'>): CostsShowContext & CostsSetContext {
  return {
    now: () => systemClock.wallTime(),
    readFile: readPriceFile,
    readShipped: () => readPriceFile(shippedPriceFile()),
    lock: (path) => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      return lockPriceFile(path, lockLimitMs)
    },
    read: readPricesInForce,
    write: writePriceFile,
    print: (text) => stdout.write(text),
    warn: (text) => stderr.write(text),
  }
}
