import { readSync } from 'node:fs'

/** The bytes of an open file from `start` up to `end`, or to the end of the file, in a new buffer. */
export function readRange(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.max(0, end - start))
  let filledBytes = 0
  while (filledBytes < bytes.length) {
    const readBytes = readSync(file, bytes, filledBytes, bytes.length - filledBytes, start + filledBytes)
    if (readBytes === 0) break
    filledBytes += readBytes
  }
  return bytes.subarray(0, filledBytes)
}
