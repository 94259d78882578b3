import { closeSync, openSync, readSync } from 'node:fs'

/** https://sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32
const frameHeaderBytes = 24
const checksummedHeaderBytes = 24
const checksummedFrameBytes = 8
/** The last bit says in which order of bytes the checksums were computed. */
const magic = 0x377f_0682

/** Two running sums over pairs of words. */
interface Sums {
  first: number
  second: number
}

/**
 * Whether a write-ahead log holds more than SQLite will read of it. It stops at the first frame that is not as it
 * was written, and writes over what follows. One such frame at the end is a write that was cut short, and no damage.
 */
export function isLogDamaged(path: string): boolean {
  // Another gateway may be writing to it: what was half written at the first look is whole at the second.
  return looksDamaged(path) && looksDamaged(path)
}

function looksDamaged(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(headerBytes)
    if (readSync(file, header, 0, headerBytes, 0) < headerBytes) return false
    const isLittle = header.readUInt32BE(0) === magic
    const pageBytes = header.readUInt32BE(8)
    const sums: Sums = { first: 0, second: 0 }
    add(sums, header, 0, checksummedHeaderBytes, isLittle)
    const isOurs = isLittle || header.readUInt32BE(0) === magic + 1
    if (!isOurs || !isPageSize(pageBytes) || !matches(sums, header, 24)) return true
    const frame = Buffer.alloc(frameHeaderBytes + pageBytes)
    for (let at = headerBytes; ; at += frame.length) {
      if (!readFrame(file, frame, at, header)) return false
      add(sums, frame, 0, checksummedFrameBytes, isLittle)
      add(sums, frame, frameHeaderBytes, pageBytes, isLittle)
      if (!matches(sums, frame, 16)) return readFrame(file, frame, at + frame.length, header)
    }
  } finally {
    closeSync(file)
  }
}

/** Whether a whole frame stands here that was written since the log was last begun anew, as its salts tell. */
function readFrame(file: number, frame: Buffer, at: number, header: Buffer): boolean {
  if (readSync(file, frame, 0, frame.length, at) < frame.length) return false
  return frame.compare(header, 16, 24, 8, 16) === 0
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0
}

function matches({ first, second }: Sums, bytes: Buffer, at: number): boolean {
  return bytes.readUInt32BE(at) === first && bytes.readUInt32BE(at + 4) === second
}

function add(sums: Sums, bytes: Buffer, from: number, length: number, isLittle: boolean): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + from, length)
  let { first, second } = sums
  for (let at = 0; at < length; at += 8) {
    first = (first + view.getUint32(at, isLittle) + second) >>> 0
    second = (second + view.getUint32(at + 4, isLittle) + first) >>> 0
  }
  sums.first = first
  sums.second = second
}
