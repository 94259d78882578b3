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
 * Reads comma-separated values (RFC 4180) that come in pieces. Records that are too long and unwanted columns are not kept,
 * so that memory is bounded.
 */
export class CsvReader {
  /** Says which columns, counted from zero, are wanted. */
  isWanted: (column: number) => boolean = () => true
  #state: 'start' | 'plain' | 'quoted' | 'quote' = 'start'
  #line = 1
  /** The line on which the last quote began. */
  #quoteLine = 1
  #recordLine = 1
  #fields: string[] = []
  #field = ''
  /** True if the field has doubled quotes. */
  #hasPairs = false
  #size = 0
  #problem = ''
  #endedWithReturn = false;

  *push(text: string): Generator<ReadRecord> {
    for (let at = 0; at < text.length;) {
      const char = text.charAt(at)
      if (this.#endedWithReturn) {
        this.#endedWithReturn = false
        if (char === '\n') {
          at++
          continue
        }
      }
      if (this.#state === 'start' && char === '"') {
        this.#state = 'quoted'
        this.#quoteLine = this.#line
        at++
      } else if (this.#state === 'quoted') {
        // Pairs of quotes are taken together: letter by letter, a text of nothing else would take gigabytes.
        let end = text.indexOf('"', at)
        while (end >= 0 && text.charAt(end + 1) === '"') {
          this.#hasPairs = true
          end = text.indexOf('"', end + 2)
        }
        this.#take(text.slice(at, end < 0 ? undefined : end))
        if (end >= 0) this.#state = 'quote'
        at = end < 0 ? text.length : end + 1
      } else if (this.#state === 'quote' && char === '"') {
        this.#hasPairs = true
        this.#take('""')
        at++
        this.#state = 'quoted'
      } else {
        borders.lastIndex = at
        const end = borders.exec(text)?.index ?? text.length
        if (this.#state === 'quote' && end > at)
          this.#problem ||= `field ${this.#fields.length + 1}: a quote ends before the field does`
        this.#state = 'plain'
        this.#take(text.slice(at, end))
        at = end
        if (end === text.length) break
        const border = text.charAt(at++)
        this.#endField()
        if (border === ',') continue
        this.#endedWithReturn = border === '\r'
        this.#line++
        yield* this.#endRecord()
      }
    }
  }

  /** The last record, if the text did not end with a line; else null. */
  end(): ReadRecord | null {
    if (this.#state === 'quoted') {
      const problem = `field ${this.#fields.length + 1}: the quote that begins here never ends, so nothing from here on was read`
      return { line: this.#quoteLine, fields: null, problem }
    }
    if (this.#state === 'start' && this.#fields.length === 0) return null
    this.#endField()
    return this.#endRecord().next().value ?? null
  }

  #take(part: string): void {
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) this.#line++
    if (!this.isWanted(this.#fields.length)) return
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
