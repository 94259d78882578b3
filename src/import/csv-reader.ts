/** A line and a column of a text, counted from one. */
export interface FilePosition {
  readonly line: number
  readonly column: number
}

/** A record of a file; `fields` is null if it is not what it should be, which `problem` says. */
export interface ReadRecord {
  readonly line: number
  readonly fields: readonly string[] | null
  readonly problem: string
}

/** Characters of one record that are kept at most. A longer record is left out, however long it is. */
export const longestRecord: number = 32 * 1024 * 1024

const borders = /[,\r\n]/g

/**
 * Reads comma-separated values as RFC 4180 lays them out, in whatever pieces they come. Of what is too long or not asked
 * for nothing is kept, so that the memory that it takes is bounded.
 */
export class CsvReader {
  /** Says which columns, counted from zero, are wanted. */
  keeps: (column: number) => boolean = () => true
  #state: 'start' | 'plain' | 'quoted' | 'quote' = 'start'
  #line = 1
  /** Characters before the piece in hand; before the line in hand. */
  #offset = 0
  #lineOffset = 0
  #quoteAt: FilePosition = { line: 1, column: 1 }
  #recordLine = 1
  #fields: string[] = []
  #field = ''
  /** Its quotes stand there twice each. */
  #hasPairs = false
  #size = 0
  #problem = ''
  #endedWithReturn = false

  /** Where reading has come to. */
  get place(): FilePosition {
    return { line: this.#line, column: this.#offset - this.#lineOffset + 1 }
  }

  *push(text: string): Generator<ReadRecord> {
    const start = this.#offset
    for (let at = 0; at < text.length;) {
      const char = text.charAt(at)
      if (this.#endedWithReturn) {
        this.#endedWithReturn = false
        if (char === '\n') {
          this.#lineOffset = start + ++at
          continue
        }
      }
      if (this.#state === 'start' && char === '"') {
        this.#state = 'quoted'
        this.#quoteAt = { line: this.#line, column: start + at - this.#lineOffset + 1 }
        at++
      } else if (this.#state === 'quoted') {
        // Pairs of quotes are taken together: letter by letter, a text of nothing else would take gigabytes.
        let end = text.indexOf('"', at)
        while (end >= 0 && text.charAt(end + 1) === '"') {
          this.#hasPairs = true
          end = text.indexOf('"', end + 2)
        }
        this.#take(text.slice(at, end < 0 ? undefined : end), start + at)
        if (end >= 0) this.#state = 'quote'
        at = end < 0 ? text.length : end + 1
      } else if (this.#state === 'quote' && char === '"') {
        this.#hasPairs = true
        this.#take('""', start + at++)
        this.#state = 'quoted'
      } else {
        borders.lastIndex = at
        const end = borders.exec(text)?.index ?? text.length
        if (this.#state === 'quote' && end > at) {
          const column = start + at - this.#lineOffset + 1
          this.#problem ||= `column ${column}: a quote ends before its field does`
        }
        this.#state = 'plain'
        this.#take(text.slice(at, end), start + at)
        at = end
        if (end === text.length) break
        const border = text.charAt(at++)
        this.#endField()
        if (border === ',') continue
        this.#endedWithReturn = border === '\r'
        this.#line++
        this.#lineOffset = start + at
        yield* this.#endRecord()
      }
    }
    this.#offset += text.length
  }

  /** What is left when there are no more pieces; null if the text ended with a line. */
  end(): ReadRecord | null {
    if (this.#state === 'quoted') {
      const { line, column } = this.#quoteAt
      const problem = `column ${column}: the quote that begins here never ends, so nothing from here on was read`
      return { line, fields: null, problem }
    }
    if (this.#state === 'start' && this.#fields.length === 0) return null
    this.#endField()
    return this.#endRecord().next().value ?? null
  }

  #take(part: string, offset: number): void {
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) {
      this.#line++
      this.#lineOffset = offset + at + 1
    }
    if (!this.keeps(this.#fields.length)) return
    this.#size += part.length
    if (this.#size <= longestRecord) this.#field += part
    else this.#problem ||= `is longer than ${longestRecord / 2 ** 20} MiB`
  }

  #endField(): void {
    const field = this.#problem === '' ? this.#field : ''
    this.#fields.push(this.#hasPairs ? field.replaceAll('""', '"') : field)
    this.#hasPairs = false
    this.#field = ''
    this.#state = 'start'
  }

  *#endRecord(): Generator<ReadRecord, undefined> {
    const [fields, problem, line] = [this.#fields, this.#problem, this.#recordLine]
    this.#fields = []
    this.#problem = ''
    this.#size = 0
    this.#recordLine = this.#line
    if (problem !== '') yield { line, fields: null, problem }
    else if (fields.length > 1 || fields[0] !== '') yield { line, fields, problem }
  }
}
