import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { callsOptionTable } from '../src/cli/commands/calls-options.ts'
import { costsSetOptionTable, costsShowOptionTable } from '../src/cli/commands/costs-options.ts'
import { syncOptionTable } from '../src/cli/commands/costs-sync-options.ts'
import {
  checkOptionTable,
  compressOptionTable,
  rebuildOptionTable,
  repriceOptionTable,
} from '../src/cli/commands/db-options.ts'
import { tailOptionTable } from '../src/cli/commands/tail-options.ts'
import { verifyOptionTable } from '../src/cli/commands/verify-options.ts'
import {
  dashboardOptionTable,
  gatewayCommandTable,
  ownOptionTable,
} from '../src/options/dashboard-options.ts'
import { gatewayOptionTable } from '../src/options/gateway-options.ts'
import { type OptionSpec, type OptionTable, shownValue } from '../src/options/option-spec.ts'

/** The file whose tables `npm run docs` writes. */
export const optionsDoc: string = fileURLToPath(new URL('../docs/options.md', import.meta.url))

type AnyTable = Readonly<Record<string, OptionSpec<unknown>>>

/** By heading. What `up` and `dashboard` share with `gateway` stands there. */
const tables: Readonly<Record<string, AnyTable>> = {
  'tokenweir up': rows(ownOptionTable),
  'tokenweir dashboard': Object.fromEntries(
    Object.entries(rows(dashboardOptionTable)).filter(([, spec]) => !isGateways(spec)),
  ),
  'tokenweir gateway': rows(gatewayCommandTable),
  'tokenweir calls': rows(callsOptionTable),
  'tokenweir tail': rows(tailOptionTable),
  'tokenweir verify': rows(verifyOptionTable),
  'tokenweir db compress': rows(compressOptionTable),
  'tokenweir db check': rows(checkOptionTable),
  'tokenweir db rebuild': rows(rebuildOptionTable),
  'tokenweir db reprice': rows(repriceOptionTable),
  'tokenweir costs show': rows(costsShowOptionTable),
  'tokenweir costs set': rows(costsSetOptionTable),
  'tokenweir costs sync': rows(syncOptionTable),
}

function rows<V>(table: OptionTable<V>): AnyTable {
  return table as unknown as AnyTable
}

function isGateways(spec: OptionSpec<unknown>): boolean {
  return Object.values<unknown>(gatewayOptionTable).includes(spec)
}

/** The text with its tables as the program has them. Throws if a command has no place for its table. */
export function withOptionTables(text: string): string {
  const sections = text.split(/^(?=## )/m)
  for (const [command, table] of Object.entries(tables)) {
    const index = sections.findIndex((section) => section.startsWith(`## \`${command}\`\n`))
    const section = sections[index]
    const old = section === undefined ? null : /^\| option \|.*\n(?:\|.*\n)+/m.exec(section)
    if (section === undefined || old === null) {
      throw new Error(`docs/options.md has no table under ## \`${command}\``)
    }
    sections[index] = section.replace(old[0], () => tableText(table))
  }
  return sections.join('')
}

function tableText(table: AnyTable): string {
  const lines = Object.values(table).map(({ name, kind, default: value, env, description }) => {
    const isSwitch = kind.placeholder === null
    const cells = [
      code(isSwitch ? `--${name}` : `--${name} ${kind.placeholder}`),
      code(shownValue(value)),
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

if (import.meta.main) writeFileSync(optionsDoc, withOptionTables(readFileSync(optionsDoc, 'utf8')))
