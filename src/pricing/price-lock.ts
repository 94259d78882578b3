import { dirname } from 'node:path'
import { takeFolderLock } from '../lib/folder-lock.ts'

/**
 * Held from the reading of a price file to the writing of what was made of it, by whoever changes it: a sync, the page, or
 * the command line. Null where another held it until `limitMs` were over; rejects with the system's error.
 */
export function takePriceLock(path: string, limitMs: number): Promise<Disposable | null> {
  return takeFolderLock(dirname(path), 'prices', limitMs)
}
