import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { commands } from '../src/cli/main.ts'
import type { CliCommand } from '../src/cli/parse-options.ts'
import {
  dashboardOptionTable,
  gatewayCommandTable,
  ownOptionTable,
  upOptionTable,
} from '../src/options/dashboard-options.ts'
import { gatewayOptionTable } from '../src/options/gateway-options.ts'
import { count } from '../src/lib/number-format.ts'
import { envName, shownDefault } from '../src/options/option-spec.ts'

const pages = ['options', 'commands-calls', 'commands-database', 'commands-setup'] as const

/** The files whose tables `npm run docs` writes. */
export const optionDocs: readonly string[] = pages.map((page) =>
  fileURLToPath(new URL(`../docs/${page}.md`, import.meta.url)),
)

type Table = CliCommand['options']

/** Commands whose options another command has too; the table of that command lists them. */
const likeOthers: Readonly<Record<string, string>> = {
  dashboard: 'up',
  'db export': 'calls',
  'upstreams set': 'upstreams add',
}

/** Options that the pages describe once for all commands. */
const describedOnce = new Set(['db', 'upstream-file', 'admin-token-file'])

const withoutTables = new Set(['up', 'gateway', 'dashboard', 'demo', 'service print'])

const whole: Readonly<Record<string, Table>> = {
  up: ownOptionTable,
  gateway: gatewayCommandTable,
  dashboard: Object.fromEntries(
    Object.entries<Table[string]>(dashboardOptionTable).filter(([, option]) => !isGateways(option)),
  ),
  ...Object.fromEntries(
    await Promise.all(
      Object.entries(commands)
        .filter(([name]) => !withoutTables.has(name))
        .map(async ([name, [, load]]) => [name, withoutUps((await load()).table)] as const),
    ),
  ),
}

/** By heading. A table without rows is left out. */
const tables: ReadonlyMap<string, Table> = new Map(
  Object.entries(whole).map(([name, table]) => {
    const other = Object.values(whole[likeOthers[name] ?? ''] ?? {})
    const isServer = withoutTables.has(name)
    const rows = Object.entries(table).filter(
      ([, option]) =>
        (isServer || !describedOnce.has(option.name)) &&
        !other.some((shared) => shared.name === option.name && shared.description === option.description),
    )
    return [`tokenweir ${name}`, Object.fromEntries(rows)]
  }),
)

/** The options of a command besides those of `up`, if it takes all of these. */
function withoutUps(table: Table): Table {
  const shared = Object.values<unknown>(upOptionTable)
  if (!shared.every((option) => Object.values<unknown>(table).includes(option))) return table
  return Object.fromEntries(Object.entries(table).filter(([, option]) => !shared.includes(option)))
}

function isGateways(option: Table[string]): boolean {
  return Object.values<unknown>(gatewayOptionTable).includes(option)
}

/** The texts with their tables as the program has them. Throws if a command has no place for its table. */
export function withOptionTables(texts: readonly string[]): readonly string[] {
  // No text contains a form feed.
  const sections = texts.join('\f').split(/^(?=## )/m)
  for (const [command, table] of tables) {
    const index = sections.findIndex((section) => section.startsWith(`## \`${command}\`\n`))
    const section = sections[index]
    const old = section === undefined ? null : /^\| option \|.*\n(?:\|.*\n)+/m.exec(section)
    const isEmpty = Object.keys(table).length === 0
    if (section === undefined || (old === null) !== isEmpty) {
      throw new Error(
        `docs/options.md and docs/commands-*.md have ${isEmpty ? 'an empty' : 'no'} table under ## \`${command}\``,
      )
    }
    if (old !== null) sections[index] = section.replace(old[0], () => tableText(table))
  }
  return sections.join('').split('\f')
}

function tableText(table: Table): string {
  const rows = Object.values(table).map(({ name, kind, default: value, env, description }) => {
    const usual = shownDefault(value)
    const isSwitch = kind.placeholder === null
    // A server's option has the variable of its name; any other has none.
    const variables = table['pidFile'] !== undefined || table['dashboardPort'] !== undefined
    const expected = variables ? [envName(name)] : []
    const differs = env.join() !== expected.join()
    const names = env.length === 0 ? 'no variable of its own' : env.map(code).join(', ')
    const asides = [shortRange(kind), differs ? names : ''].filter((text) => text !== '')
    return [
      code(isSwitch ? `--${name}` : `--${name} ${kind.placeholder}`),
      usual === null || (isSwitch && usual === 'off') ? '' : code(usual),
      `${description}${asides.length === 0 ? '' : ` (${asides.join('; ')})`}`,
    ]
  })
  const columns = ['option', 'default', 'meaning']
  const used = columns.map((_, index) => rows.some((cells) => cells[index] !== ''))
  const lines = [columns, ...rows].map(
    (cells) =>
      `| ${cells
        .filter((_, index) => used[index])
        .map((cell) => cell.replaceAll('|', '\\|'))
        .join(' | ')} |\n`,
  )
  lines.splice(1, 0, `|${'---|'.repeat(used.filter(Boolean).length)}\n`)
  return lines.join('')
}

/** The range of a value; empty where the placeholder or common sense says it. */
function shortRange({ placeholder, range, number }: Table[string]['kind']): string {
  if (placeholder === null || placeholder === '<usd>' || placeholder.includes('on|')) return ''
  if (range === `one of ${placeholder.slice(1, -1).replaceAll('|', ', ')}`) return ''
  if (/^an http|of 1 to \d+ characters|^a number of|^an? IANA/.test(range)) return ''
  if (/^(?:a|an|the) (?:path|name|model|client|host name|IP address|variable|header|pattern)\b/.test(range))
    return ''
  if (number !== undefined) {
    const { min, max } = number
    if (max < 2 ** 31 - 1) return `${count(min)} to ${count(max)}`
    return min === 0 ? '' : `at least ${count(min)}`
  }
  if (range.length > 200) return 'a code of [errors.md](errors.md)'
  if (/^an? (?:instant|time) in ISO 8601/.test(range)) return 'ISO 8601, or a day'
  return range.replace(/^one of /, '')
}

function code(text: string): string {
  return `\`${text}\``
}

if (import.meta.main) {
  const texts = withOptionTables(optionDocs.map((doc) => readFileSync(doc, 'utf8')))
  for (const [index, doc] of optionDocs.entries()) writeFileSync(doc, texts[index] ?? '')
}
