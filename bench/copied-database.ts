import { copyFile, open } from 'node:fs/promises'
import { openForWriting } from '../src/store/sqlite/open-store.ts'

/**
 * A copy to work on, with this program's schema, written to the disk. Otherwise the first measurement, or the next sync,
 * would pay for that write.
 */
export async function copyDatabase(from: string, to: string): Promise<void> {
  await copyFile(from, to)
  openForWriting(to).close()
  const file = await open(to, 'r+')
  await file.sync()
  await file.close()
}
