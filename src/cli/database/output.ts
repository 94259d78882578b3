import { PartFile } from '../../export/part-file.ts'
import { withEscapes } from '../../lib/unprintable.ts'
import { path } from '../../options/value-kind.ts'
import { exitCode } from '../exit-code.ts'
import { flag, optional } from '../option-rows.ts'
import { onStopSignal } from '../stop-signal.ts'

/** Options of a command that writes to a file or to standard output. */
export const outputRows = {
  out: optional(path, 'file to write, renamed to this once complete; - for standard output'),
  force: flag('overwrite an existing file'),
}

/** The file or stream that an export is written to. */
export interface Output {
  /** ` to <file>`; empty for standard output. */
  readonly words: string
  /** Bytes written so far. */
  readonly bytes: number
  readonly write: (bytes: Uint8Array | string) => Promise<void>
}

const progressEveryMs = 200

/** Shows progress on a line of standard error that the next progress overwrites; only on a terminal. */
export function showProgress(): { readonly show: (words: () => string) => void; readonly clear: () => void } {
  const { stderr } = process
  let shownMs = 0
  let width = 0
  const put = (text: string): void => {
    if (stderr.isTTY) stderr.write(`\r${text.padEnd(width)}\r${text}`)
    width = text.length
  }
  return {
    show: (words) => {
      if (performance.now() - shownMs < progressEveryMs) return
      shownMs = performance.now()
      put(words())
    },
    clear: () => put(''),
  }
}

/**
 * Writes to a file, which gets its name when it is complete, or to standard output. Prints the result on standard
 * error. Ctrl-C and an error leave no file behind.
 */
export async function toOutput(
  { out, force }: { readonly out: string | null; readonly force: boolean },
  work: (output: Output) => Promise<string>,
): Promise<void> {
  let bytes = 0
  const isFile = out !== null && out !== '-'
  using part = isFile ? openPart(out, force) : null
  const output: Output = {
    words: isFile ? ` to ${out}` : '',
    get bytes() {
      return bytes
    },
    write: async (piece) => {
      const isWatched = part === null && process.stdout.isTTY
      const data = typeof piece === 'string' ? Buffer.from(isWatched ? withEscapes(piece) : piece) : piece
      if (data.length === 0) return
      if (part === null) await print(data)
      else part.write(data)
      bytes += data.length
    },
  }
  const words = await work(output)
  part?.publish()
  process.stderr.write(words)
}

/** A part file that Ctrl-C deletes. */
export function openPart(path: string, force: boolean): PartFile {
  const part = new PartFile(path, { force })
  onStopSignal(async () => {
    part[Symbol.dispose]()
    process.exit(exitCode.fault)
  })
  return part
}

function print(data: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => (error ? reject(error) : resolve()))
  })
}
