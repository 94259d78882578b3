import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../../src/lib/errors.ts'

/** Every file below a folder that a process may still be writing to. */
export async function filesBelow(folder: string): Promise<{ name: string; bytes: Buffer }[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  // A temporary file may have got its name in between; it is read under that in the end.
  const read = (name: string): Promise<Buffer> =>
    readFile(name).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return Buffer.alloc(0)
      throw error
    })
  return Promise.all(names.map(async (name) => ({ name, bytes: await read(name) })))
}
