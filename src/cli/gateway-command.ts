import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))

/** The command line of a job: this Node and this package. */
export const ownCommand: readonly string[] = [process.execPath, script]

/** The command line of a gateway. */
export const gatewayCommand: readonly string[] = [...ownCommand, 'gateway']

/** The command that starts this program in this folder: its file in a clone, its name if installed. */
export function typedCommand(): string {
  if (script.includes(`${sep}node_modules${sep}`)) return 'tokenweir'
  const below = relative(process.cwd(), script)
  const path = below.startsWith('..') ? script : below
  return `node ${/^[\w./-]+$/.test(path) ? path : JSON.stringify(path)}`
}
