import { mkdirSync } from 'node:fs'

/** Folders are for the owner alone. Where one cannot be made, the store's warnings say so; traffic goes on. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch {
    // As above.
  }
}
