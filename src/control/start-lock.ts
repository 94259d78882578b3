import { takeFolderLock } from '../lib/folder-lock.ts'

/**
 * Lets one process at a time go through the taking of a folder's control socket. Systems other than Linux have no such
 * lock: there, the port alone keeps two gateways apart that start in the same moment. Rejects in words.
 */
export async function takeStartLock(folder: string, limitMs: number): Promise<Disposable> {
  const lock = await takeFolderLock(folder, 'start', limitMs)
  if (lock === null) throw new Error('another gateway has been starting in this folder')
  return lock
}
