/** Loaded before a gateway: its clock of durations stands still at what the file says, in milliseconds; timers run as ever. */
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

const file = process.env['TOKENWEIR_SET_CLOCK']
if (file !== undefined && isMainThread) performance.now = (): number => Number(readFileSync(file, 'utf8'))
