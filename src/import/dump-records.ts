import { longestRecord } from './csv-reader.ts'
import type { TextLine } from './line-splitter.ts'
import type { NamedRecord } from './read-import.ts'
import { ImportError } from './text-source.ts'

const table = 'LiteLLM_SpendLogs'
const copy = /^COPY (?:\w+\.)?"?(\w+)"? \((.*)\) FROM stdin;/
const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/**
 * The rows of LiteLLM's table in a dump of `pg_dump`, those of `COPY … FROM stdin`:
 * https://www.postgresql.org/docs/current/sql-copy.html, text format. Throws {@link ImportError}.
 */
export async function* dumpRecords(lines: AsyncIterable<TextLine>): AsyncGenerator<NamedRecord> {
  let names: readonly string[] | null = null
  let isInOther = false
  let wasThere = false
  let last = 1
  for await (const { line, text, hasEnd } of lines) {
    last = line
    if (text === '\\.') {
      names = null
      isInOther = false
    } else if (names !== null) yield rowOf(line, text, names, hasEnd)
    else if (!isInOther && text !== null) {
      const [, name, columns = ''] = copy.exec(text) ?? []
      if (name === table) {
        names = columns.split(', ').map((column) => column.replaceAll('"', ''))
        wasThere = true
      } else if (name !== undefined) isInOther = true
      else if (text.startsWith('INSERT INTO') && text.includes(table)) {
        throw new ImportError(`line ${line}: rows as INSERT cannot be read; dump them without --inserts`)
      }
    }
  }
  if (names !== null || isInOther) {
    throw new ImportError(
      `line ${last}: the dump ends within a table: it was cut off, and what follows is missing`,
    )
  }
  if (!wasThere) throw new ImportError(`the dump has no rows of the table "${table}"`)
}

function rowOf(line: number, text: string | null, names: readonly string[], hasEnd: boolean): NamedRecord {
  if (text === null) return { line, fields: null, problem: `is longer than ${longestRecord / 2 ** 20} MiB` }
  const values = text.split('\t')
  if (values.length !== names.length || !hasEnd) {
    const told = `it has ${values.length} columns in place of ${names.length}`
    return { line, fields: null, problem: hasEnd ? told : 'the file ends within this line: it was cut off' }
  }
  const fields = Object.fromEntries(names.map((name, index) => [name, valueOf(values[index] ?? '')]))
  return { line, fields, problem: '' }
}

function valueOf(text: string): string | null {
  if (text === '\\N') return null
  return text.includes('\\') ? text.replaceAll(/\\(.)/gs, (_, char: string) => escapes[char] ?? char) : text
}
