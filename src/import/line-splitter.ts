import { longestRecord } from './csv-reader.ts'

/** A line of a text. `text` has no line break, and is null for a line that is too long. */
export interface TextLine {
  readonly line: number
  readonly text: string | null
  /** True if a line break follows. */
  readonly hasEnd: boolean
}

/** Cuts a text that arrives in pieces into lines. The text of a line that is too long is dropped. */
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
