import { type Stats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Default limit: more than a person writes by hand. */
const settingsBytes = 2 * 1024 * 1024

/**
 * Reads an untrusted file. Opening never blocks, and only a regular file of at most `mostBytes` is read.
 * `judge` may throw to refuse the open file. Throws the system's error, or an `Error` that says why the file
 * is not read.
 */
export function readBytes(
  path: string,
  mostBytes: number = settingsBytes,
  judge: (stats: Stats) => void = () => {},
): Buffer {
  // Checked before opening, because opening a device may have effects.
  expectFile(statSync(path), mostBytes)
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const stats = fstatSync(file)
    expectFile(stats, mostBytes)
    judge(stats)
    // Reading one byte beyond the size shows whether the file has grown.
    const known = readRange(file, 0, stats.size + 1)
    const bytes = known.length > stats.size ? readRange(file, 0, mostBytes + 1) : known
    if (bytes.length > mostBytes) throw tooLarge(bytes.length, mostBytes)
    return bytes
  } finally {
    closeSync(file)
  }
}

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

/**
 * Reads a file as UTF-8 text, without a byte order mark. Throws as {@link readBytes} does, and for other
 * bytes than UTF-8.
 */
export function readText(path: string, mostBytes?: number, judge?: (stats: Stats) => void): string {
  const bytes = readBytes(path, mostBytes, judge)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('it is not text in UTF-8')
  }
}

function expectFile(stats: Stats, mostBytes: number): void {
  if (!stats.isFile()) {
    const kind = stats.isDirectory()
      ? 'a directory'
      : stats.isFIFO()
        ? 'a named pipe'
        : stats.isSocket()
          ? 'a socket'
          : 'a device'
    throw new Error(`it is ${kind}, not a regular file`)
  }
  if (stats.size > mostBytes) throw tooLarge(stats.size, mostBytes)
}

function tooLarge(bytes: number, mostBytes: number): Error {
  return new Error(`it has ${bytes} bytes or more; ${mostBytes} are the most`)
}
