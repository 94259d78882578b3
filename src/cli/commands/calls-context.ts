import { systemClock } from '../../call/clock.ts'
import { openCallReader } from '../../store/read/call-query.ts'
import type { CallsContext } from './calls.ts'
import type { Environment } from '../parse-options.ts'

/** Columns where the output goes to a file or a pipe: room for all that the table has. */
const unboundedWidth = 240

/** The world of `tokenweir calls`: this machine's clock, the real store, and the terminal. */
export function callsContext(
  { stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>,
  env: Environment,
): CallsContext {
  const closed = new AbortController()
  // Whoever read has left, as `head` does when it has enough: no reason to complain.
  stdout.on('error', () => closed.abort())
  return {
    clock: systemClock,
    openReader: openCallReader,
    print: (text) => stdout.write(text),
    warn: (text) => stderr.write(text),
    width: (stdout.isTTY ? stdout.columns : Number(env['COLUMNS'])) || unboundedWidth,
    color: stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    signal: closed.signal,
  }
}
