import { systemClock } from '../call/clock.ts'
import { checkStore } from '../store/check-store.ts'
import { compressStore } from '../store/compress-store.ts'
import type { CheckContext } from './db-check.ts'
import type { CompressContext } from './db-compress.ts'

/** The world of `tokenweir db …`: this machine's clock, the real store, and the terminal. */
export function dbContext({
  stdout,
  stderr,
}: Pick<NodeJS.Process, 'stdout' | 'stderr'>): CompressContext & CheckContext {
  return {
    clock: systemClock,
    compress: compressStore,
    check: checkStore,
    print: (text) => stdout.write(text),
    warn: (text) => stderr.write(text),
    isTerminal: stdout.isTTY,
  }
}
