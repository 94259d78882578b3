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
import { shownDefault } from '../src/options/option-spec.ts'

const pages = ['options', 'commands-calls', 'commands-database', 'commands-setup'] as const

/** The files whose tables `npm run docs` writes. */
export const optionDocs: readonly string[] = pages.map((page) =>
  fileURLToPath(new URL(`../docs/${page}.md`, import.meta.url)),
)

type Table = CliCommand['options']

/** By heading. What `up` and `dashboard` share with `gateway` stands there. */
const tables: Readonly<Record<string, Table>> = {
  'tokenweir up': ownOptionTable,
  'tokenweir dashboard': Object.fromEntries(
    Object.entries<Table[string]>(dashboardOptionTable).filter(([, option]) => !isGateways(option)),
  ),
  'tokenweir gateway': gatewayCommandTable,
  ...Object.fromEntries(
    await Promise.all(
      Object.entries(commands)
        .filter(([name]) => !['up', 'gateway', 'dashboard', 'demo', 'service print'].includes(name))
        .map(async ([name, [, load]]) => [`tokenweir ${name}`, beside((await load()).table)] as const),
    ),
  ),
}

/** The options of a command besides those of `up`, if it takes all of these. */
function beside(table: Table): Table {
  const shared = Object.values<unknown>(upOptionTable)
  if (!shared.every((option) => Object.values<unknown>(table).includes(option))) return table
  return Object.fromEntries(Object.entries(table).filter(([, option]) => !shared.includes(option)))
}

function isGateways(option: Table[string]): boolean {
  return Object.values<unknown>(gatewayOptionTable).includes(option)
}

/** The texts with their tables as the program has them. Throws if a command has no place for its table. */
export function withOptionTables(texts: readonly string[]): readonly string[] {
  // A form feed stands in no text.
  const sections = texts.join('\f').split(/^(?=## )/m)
  for (const [command, table] of Object.entries(tables)) {
    const index = sections.findIndex((section) => section.startsWith(`## \`${command}\`\n`))
    const section = sections[index]
    const old = section === undefined ? null : /^\| option \|.*\n(?:\|.*\n)+/m.exec(section)
    if (section === undefined || old === null) {
      throw new Error(`docs/options.md and docs/commands-*.md have no table under ## \`${command}\``)
    }
    sections[index] = section.replace(old[0], () => tableText(table))
  }
  return sections.join('').split('\f')
}

function tableText(table: Table): string {
  const lines = Object.values(table).map(({ name, kind, default: value, env, description }) => {
    const isSwitch = kind.placeholder === null
    const shown = shownDefault(value)
    const cells = [
      code(isSwitch ? `--${name}` : `--${name} ${kind.placeholder}`),
      shown === null ? '–' : code(shown),
      isSwitch ? '' : kind.range,
      env.map(code).join(', '),
      description,
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  })
  return `| option | default | range | environment | meaning |\n|---|---|---|---|---|\n${lines.join('')}`
}

function code(text: string): string {
  return `\`${text}\``
}

if (import.meta.main) {
  const texts = withOptionTables(optionDocs.map((doc) => readFileSync(doc, 'utf8')))
  for (const [index, doc] of optionDocs.entries()) writeFileSync(doc, texts[index] ?? '')
}
