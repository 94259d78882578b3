import { longestRecord } from './csv-reader.ts'

/** A line without its end; null if it is too long to be kept. */
export interface TextLine {
  readonly line: number
  readonly text: string | null
  /** The file goes on after it. */
  readonly hasEnd: boolean
}

/** Cuts a text that comes in pieces into lines; of a line that is too long nothing is kept. */
export async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<TextLine> {
  let line = 1
  let rest = ''
  let isTooLong = false
  for await (const piece of pieces) {
    let from = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      yield {
        line: line++,
        text: isTooLong ? null : (rest + piece.slice(from, end)).replace(/\r$/, ''),
        hasEnd: true,
      }
      rest = ''
      isTooLong = false
      from = end + 1
    }
    if (!isTooLong) rest += piece.slice(from)
    if (rest.length <= longestRecord) continue
    rest = ''
    isTooLong = true
  }
  if (rest !== '' || isTooLong) yield { line, text: isTooLong ? null : rest, hasEnd: false }
}
