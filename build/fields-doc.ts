import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { namedFields } from '../src/call/fields/call-fields.ts'
import type { FieldKind } from '../src/call/fields/field-kinds.ts'

/** The page that `npm run docs` writes the fields of a call into. */
export const fieldsDoc = fileURLToPath(new URL('../docs/fields.md', import.meta.url))

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

/** The text with its table of fields as the program has it. Throws if it has none. */
export function withFieldTable(text: string): string {
  const old = /^\| field \|.*\n(?:\|.*\n)+/m
  if (!old.test(text)) throw new Error('docs/fields.md has no table of fields')
  return text.replace(old, fieldTable)
}

function fieldTable(): string {
  const lines = namedFields.map(({ name, kind, codes, required, doc }) => {
    const value = codes === undefined ? units[kind] : Object.keys(codes).join(', ')
    return `| \`${name}\` | ${value}${required === true ? '; never null' : ''} | ${doc} |\n`
  })
  return `| field | value | meaning |\n|---|---|---|\n${lines.join('')}`
}

if (import.meta.main) writeFileSync(fieldsDoc, withFieldTable(readFileSync(fieldsDoc, 'utf8')))
