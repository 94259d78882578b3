import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { type FieldKind, namedFields } from '../src/call/call-fields.ts'
import { migrate } from '../src/store/sqlite/migrate.ts'

/** The file whose table of fields and schema `npm run docs` writes. */
export const storeDoc: string = fileURLToPath(new URL('../docs/store.md', import.meta.url))

const units: Readonly<Record<FieldKind, string>> = {
  time: 'ms',
  count: 'count',
  cost: 'US dollars',
  flag: 'true or false',
  fingerprint: '8 hexadecimal digits',
  code: 'word of a closed set',
  word: 'text',
  text: 'text',
  derived: '',
}

/** The text with the fields of a call and the schema as the program has them. */
export function withStoreTables(text: string): string {
  return replaced(replaced(text, /^\| field \|.*\n(?:\|.*\n)+/m, fieldTable()), /```sql\n[^`]*```/, schema())
}

function replaced(text: string, part: RegExp, by: string): string {
  if (!part.test(text)) throw new Error(`docs/store.md has no ${part.source}`)
  return text.replace(part, () => by)
}

function fieldTable(): string {
  const lines = namedFields.map(({ name, kind, column, codes, required, doc }) => {
    const unit = codes === undefined ? units[kind] : Object.keys(codes).join(', ')
    const cells = [
      `\`${name}\``,
      kind === 'derived' ? '' : `\`${column}\``,
      unit,
      required === true ? '' : 'yes',
      doc,
    ]
    return `| ${cells.join(' | ')} |\n`
  })
  return `| field | column | value | may be null | meaning |\n|---|---|---|---|---|\n${lines.join('')}`
}

function schema(): string {
  const database = new DatabaseSync(':memory:')
  migrate(database)
  const statements = database
    .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type <> 'view' ORDER BY rowid")
    .all()
  return `\`\`\`sql\n${statements.map(({ sql }) => `${String(sql)};\n`).join('')}\`\`\``
}

if (import.meta.main) writeFileSync(storeDoc, withStoreTables(readFileSync(storeDoc, 'utf8')))
