import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { codeOf, messageOf } from '../lib/errors.ts'

/** Why a file cannot be read on; the words say where. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}

/** A file of text on its way: its pieces, and how much of it was read. */
export interface TextSource {
  readonly bytes: number
  readonly read: () => number
  /** Throws {@link ImportError}. */
  readonly pieces: AsyncGenerator<string>
}

const gzipMark = Buffer.from([0x1f, 0x8b])
/** The first bytes of files that are no text, with advice for each. */
const binaries: readonly (readonly [mark: string, advice: string])[] = [
  ['PGDMP', 'is a dump of PostgreSQL: export the table "LiteLLM_SpendLogs" as CSV'],
  ['PK\u0003\u0004', 'is a ZIP file or a spreadsheet: unpack it, or save it as CSV'],
  ['PAR1', 'is Parquet, which cannot be imported: export it as NDJSON or CSV'],
]

/** The first bytes of a file. Throws {@link ImportError}. */
export async function firstBytes(path: string): Promise<Buffer> {
  try {
    if (!(await stat(path)).isFile()) throw new ImportError(`${path} is no file`)
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof ImportError) throw error
    throw new ImportError(codeOf(error) === 'ENOENT' ? `${path} is not there` : messageOf(error))
  }
}

/** A file's text, unpacked if it is packed with gzip; it must be UTF-8. Throws {@link ImportError}. */
export async function openText(path: string, first: Buffer): Promise<TextSource> {
  const [, advice] = binaries.find(([mark]) => first.toString('latin1').startsWith(mark)) ?? []
  if (advice !== undefined) throw new ImportError(`${path} ${advice}`)
  const { size } = await stat(path)
  let read = 0
  const counting = new Transform({
    transform(chunk: Buffer, _, done) {
      read += chunk.length
      done(null, chunk)
    },
  })
  const isPacked = first.subarray(0, 2).equals(gzipMark)
  const parts = [createReadStream(path), counting, ...(isPacked ? [createGunzip()] : [])]
  // The reader of the last part gets the error.
  const bytes = pipeline(parts, () => undefined) as unknown as Readable
  return { bytes: size, read: () => read, pieces: decoded(bytes) }
}

async function* decoded(bytes: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let line = 1
  let rest = Buffer.alloc(0)
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      const all = Buffer.concat([rest, chunk])
      // A chunk can end within a character, which has up to four bytes.
      const end = [0, 1, 2, 3].map((cut) => all.length - cut).find((at) => isUtf8(all.subarray(0, at)))
      const text = decoder.decode(all.subarray(0, end ?? endOfGoodLines(all)), { stream: true })
      yield text
      line += text.split('\n').length - 1
      if (end === undefined) throw notUtf8(line)
      rest = all.subarray(end)
    }
  } catch (error) {
    if (error instanceof ImportError) throw error
    throw new ImportError(`the file cannot be read on: ${messageOf(error)}`)
  }
  if (rest.length > 0) throw notUtf8(line)
}

function notUtf8(line: number): ImportError {
  return new ImportError(
    `line ${line} has bytes that are not UTF-8, so nothing from there on was read; save the file as UTF-8`,
  )
}

/** The end of the last line before the first one that is not UTF-8. */
function endOfGoodLines(bytes: Buffer): number {
  let end = 0
  for (;;) {
    const next = bytes.indexOf('\n', end) + 1
    if (next === 0 || !isUtf8(bytes.subarray(end, next))) return end
    end = next
  }
}
