import { copyFile, open } from 'node:fs/promises'
import { openForWriting } from '../src/store/sqlite/open-store.ts'

/**
 * A copy to work on, brought to this program's schema, all of it on the disk: else whoever is measured first, or syncs
 * next, pays for that.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  openForWriting(to).close()
  const file = await open(to, 'r+')
  await file.sync()
  await file.close()
}
