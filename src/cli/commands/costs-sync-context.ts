import { systemClock } from '../../call/clock.ts'
import { syncPrices } from '../../pricing/sync-prices.ts'
import { noteEvent } from '../../store/write/note-event.ts'
import type { SyncContext } from './costs-sync.ts'

/** The world of `tokenweir costs sync`: this machine's clock, the network, and the terminal. */
export function syncContext({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): SyncContext {
  return {
    clock: systemClock,
    sync: syncPrices,
    note: noteEvent,
    print: (text) => stdout.write(text),
    warn: (text) => stderr.write(text),
  }
}
