import { readSync } from 'node:fs'

/** The bytes of an open file from `start` up to `end`, or to the end of the file, in a new buffer. */
export function readRange(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, end - start))
  let filled = 0
  while (filled < bytes.length) {
    const got = readSync(file, bytes, filled, bytes.length - filled, start + filled)
    if (got === 0) break
    filled += got
  }
  return bytes.subarray(0, filled)
}
