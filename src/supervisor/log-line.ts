import { stripVTControlCharacters } from 'node:util'

/** Most characters of a line; longer lines are cut. */
const maxLineLength = 8000
/** No character takes more bytes in UTF-8. */
const maxLineBytes = maxLineLength * 4
const newline = 0x0a
/** C0 but for the tab, DEL, C1, and the two separators that end a line in JavaScript. */
// oxlint-disable-next-line no-control-regex
const controlCharacters = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]/g

/** A line of a log that is safe to show: plain text, without control characters. */
export function cleanLine(bytes: Buffer): string {
  const text = bytes.toString('utf8', 0, maxLineBytes).slice(0, maxLineLength)
  return stripVTControlCharacters(text).replace(controlCharacters, '')
}

/** Cuts chunks into lines. Text after the last line break waits for its own. */
export class LineSplitter {
  #pending: Buffer
  constructor(pending: Buffer = Buffer.alloc(0)) {
    this.#pending = pending
  }

  push(chunk: Buffer): readonly string[] {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      lines.push(cleanLine(Buffer.concat([this.#pending, chunk.subarray(start, end)])))
      this.#pending = Buffer.alloc(0)
      start = end + 1
    }
    const room = maxLineBytes - this.#pending.length
    if (room > 0) this.#pending = Buffer.concat([this.#pending, chunk.subarray(start, start + room)])
    return lines
  }
}

/** The number of line breaks. */
export function countLines(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) count += 1
  return count
}
