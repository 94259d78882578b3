import type { CommandRun } from '../parse-options.ts'
import { set, type table } from './upstreams-set.ts'

export const example = 'tokenweir upstreams add lab --url http://10.0.0.5:8080'
export const use = 'acts'
export { positional, table } from './upstreams-set.ts'

/** `tokenweir upstreams add <name>`: adds an upstream after all others. */
export const run: CommandRun<typeof table> = (options, context) => set(options, context, false)
