import { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { contentCoding, mostDecodedBytes } from '../../lib/http/content-coding.ts'

/** Most decoded bytes. */
const mostBytes = 64 * 1024 * 1024
/** Most frames or members in a row. Upstreams differ in how many they read. */
const mostParts = 16

/** Passes on the decoded pieces of a content-coded body. Resolves with false if it cannot be decoded to its end. Never rejects. */
export async function showDecoded(
  chunks: readonly Uint8Array[],
  coding: string,
  show: (piece: Uint8Array) => void,
): Promise<boolean> {
  const decoding = contentCoding(coding)
  if (decoding === null) return false
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0)
  const most = Math.min(mostBytes, mostDecodedBytes(bytes))
  let decoded = 0
  let rest = chunks
  let restBytes = bytes
  try {
    for (let parts = 0; restBytes > 0; parts++) {
      const stream = decoding.stream(rest[0]?.[0] ?? 0)
      const write = (piece: Buffer, _: string, done: (error?: Error) => void): void => {
        decoded += piece.length
        if (decoded > most) {
          done(new RangeError('The decoded body is too large.'))
          return
        }
        show(piece)
        done()
      }
      await pipeline(Readable.from(rest), stream, new Writable({ write }))
      const { bytesWritten: read } = stream as unknown as { readonly bytesWritten: number }
      if (read === 0 || parts === mostParts) return false
      restBytes -= read
      if (restBytes > 0) rest = [Buffer.concat(rest).subarray(read)]
    }
    return true
  } catch {
    return false
  }
}
