import { cutOff, type TextBlock, tooLong, longestRecord } from './text-blocks.ts'

/** A record of CSV; `problem` is empty if the record is valid. */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
  readonly problem: string
}

const borders = /,|\r?\n/g

/** Reads comma-separated values (RFC 4180). The text of a flawed record is dropped, so that memory is bounded. */
export class CsvReader {
  #line = 1
  #recordLine = 1
  /** The line on which the last quote began. */
  #quoteLine = 1
  #fields: string[] = []
  /** The text of a quoted field whose end is still to come; null without one. */
  #quoted: string | null = null
  #size = 0
  #problem = '';

  *read({ text, flaw }: TextBlock): Generator<CsvRecord> {
    if (flaw !== null) this.#problem ||= flaw === 'long' ? tooLong : cutOff
    for (let at = 0; at < text.length;) {
      if (this.#quoted === null && text[at] === '"') {
        this.#turnQuote()
        at++
      }
      let value: string | null = null
      if (this.#quoted !== null) {
        // Pairs of quotes are handled in runs, because a text of only quotes would otherwise take gigabytes.
        let end = text.indexOf('"', at)
        while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2)
        this.#quoted += this.#accept(text.slice(at, end < 0 ? undefined : end))
        if (end < 0) return
        value = this.#quoted.replaceAll('""', '"')
        this.#turnQuote()
        at = end + 1
      }
      borders.lastIndex = at
      const border = borders.exec(text)
      const end = border?.index ?? text.length
      if (value !== null && end > at)
        this.#problem ||= `field ${this.#fields.length + 1}: text follows the closing quote`
      this.#fields.push(value ?? this.#accept(text.slice(at, end)))
      at = borders.lastIndex
      if (border?.[0] === ',') continue
      this.#line++
      const record = this.#record()
      const isBlank = record.fields.length === 1 && record.fields[0] === ''
      if (!isBlank || record.problem !== '') yield record
    }
  }

  /** A flawed record if the text ends within quotes; else null. */
  end(): CsvRecord | null {
    if (this.#quoted === null) return null
    const problem = `field ${this.#fields.length + 1}: the quote that begins here never ends, so nothing from here on was read`
    return { line: this.#quoteLine, fields: [], problem }
  }

  #turnQuote(): void {
    this.#quoted = this.#quoted === null ? '' : null
    this.#quoteLine = this.#line
  }

  #accept(part: string): string {
    for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) this.#line++
    this.#size += part.length
    if (this.#size > longestRecord) this.#problem ||= tooLong
    return this.#problem === '' ? part : ''
  }

  #record(): CsvRecord {
    const record = { line: this.#recordLine, fields: this.#fields, problem: this.#problem }
    this.#fields = []
    this.#problem = ''
    this.#size = 0
    this.#recordLine = this.#line
    return record
  }
}
