import { type Stats, closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

/** Default limit: more than a person writes by hand. */
const settingsBytes = 2 * 1024 * 1024
const pieceBytes = 64 * 1024

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
    const pieces: Buffer[] = []
    let total = 0
    for (;;) {
      // Reading one byte beyond the size shows whether the file has grown.
      const piece = Buffer.allocUnsafe(total === 0 ? stats.size + 1 : pieceBytes)
      const bytes = readSync(file, piece)
      if (bytes === 0) break
      total += bytes
      if (total > mostBytes) throw tooLarge(total, mostBytes)
      pieces.push(piece.subarray(0, bytes))
      if (total === stats.size && bytes < piece.length) break
    }
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
  } finally {
    closeSync(file)
  }
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
