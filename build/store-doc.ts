import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { type FieldKind, namedFields } from '../src/call/call-fields.ts'
import { makeSchema } from '../src/store/sqlite/schema.ts'

/** The files that `npm run docs` writes the fields of a call and the schema into, and what makes their texts. */
export const storeDocs: ReadonlyMap<string, (text: string) => string> = new Map([
  [
    fileURLToPath(new URL('../docs/fields.md', import.meta.url)),
    (text) => replaced(text, /^\| field \|.*\n(?:\|.*\n)+/m, fieldTable()),
  ],
  [
    fileURLToPath(new URL('../docs/schema.md', import.meta.url)),
    (text) => replaced(text, /```sql\n[^`]*```/, schema()),
  ],
])

const units: Readonly<Record<FieldKind, string>> = {
  time: 'ms',
  count: 'count',
  cost: 'US dollars',
  flag: 'true or false',
  fingerprint: '8 hexadecimal digits',
  code: 'one of some words',
  word: 'text',
  text: 'text',
  derived: 'derived',
}

function replaced(text: string, part: RegExp, by: string): string {
  if (!part.test(text)) throw new Error(`the page has no ${part.source}`)
  return text.replace(part, () => by)
}

function fieldTable(): string {
  const lines = namedFields.map(({ name, kind, codes, required, doc }) => {
    const value = codes === undefined ? units[kind] : Object.keys(codes).join(', ')
    return `| \`${name}\` | ${value}${required === true ? '; never null' : ''} | ${doc} |\n`
  })
  return `| field | value | meaning |\n|---|---|---|\n${lines.join('')}`
}

function schema(): string {
  const database = new DatabaseSync(':memory:')
  makeSchema(database)
  const statements = database
    .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'view' ORDER BY rowid")
    .all()
  return `\`\`\`sql\n${statements.map(({ sql }) => `${wrapped(String(sql))};\n`).join('')}\`\`\``
}

const lineLength = 118

/** A table's columns, several to a line; SQLite keeps them as they were typed and added. */
function wrapped(sql: string): string {
  const table = /^(CREATE TABLE \w+ \()\s*(.*?)\s*(\)[^)]*)$/s.exec(sql)
  if (table === null || !sql.includes('\n')) return sql
  const [, head = '', columns = '', tail = ''] = table
  const lines: string[] = []
  let line = ' '
  for (const column of columns.split(/\s*,\s+(?![^(]*\))/)) {
    if (line.length + column.length + 2 > lineLength) {
      lines.push(line)
      line = ' '
    }
    line += ` ${column},`
  }
  return [head, ...lines, line.slice(0, -1), tail].join('\n')
}

if (import.meta.main) {
  for (const [doc, made] of storeDocs) writeFileSync(doc, made(readFileSync(doc, 'utf8')))
}
