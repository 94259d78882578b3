import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { codeOf } from '../../src/lib/errors.ts'

/** Mounts a small disk at a new folder, and fills it with a file `filler`. Null where nothing can be mounted. */
export function fullDisk(folder: string): Disposable | null {
  mkdirSync(folder)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', folder]).status !== 0)
    return null
  fill(`${folder}/filler`)
  return { [Symbol.dispose]: () => void execFileSync('umount', ['--lazy', folder]) }
}

/** Appends to a file until its disk is full. */
function fill(path: string): void {
  for (;;) {
    try {
      writeFileSync(path, Buffer.alloc(4096), { flag: 'a' })
    } catch (error) {
      if (codeOf(error) === 'ENOSPC') return
      throw error
    }
  }
}
