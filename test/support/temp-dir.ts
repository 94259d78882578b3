import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory of its own for one test, gone with all that is in it when the test ends. */
export interface TempDir extends AsyncDisposable {
  readonly path: string
  /** The path of an entry of the directory. */
  file(name: string): string
}

/** `await using dir = await makeTempDir()` */
export async function makeTempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), 'tokenweir-'))
  return {
    path,
    file: (name) => join(path, name),
    // A process that was just killed may still be writing its last file.
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }),
  }
}
