/**
 * Loaded before each test file by `npm test` and `npm run check`. Property tests draw the same examples in every run:
 * `npm run fuzz` leaves this out, and a counterexample that it finds becomes an entry of a table. The thousands of short
 * processes that run the same sources keep what was compiled once, which halves the time of their start. A test file fails that
 * leaves a process behind.
 */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { configureGlobal } from 'fast-check'
import { expectNoProcessLeft } from './support/left-processes.ts'

configureGlobal({ seed: 20_261_122 })
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url))
enableCompileCache(process.env['NODE_COMPILE_CACHE'])
expectNoProcessLeft()
