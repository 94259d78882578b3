import { systemClock } from '../../call/clock.ts'
import type { Environment } from '../parse-options.ts'
import { onStopSignal } from '../stop-signal.ts'
import type { TailContext } from './tail.ts'

/** Columns where the output goes to a file or a pipe. */
const unboundedWidth = 240

/** The world of `tokenweir tail`: this machine's clock, the terminal, and whoever ends it. */
export function tailContext(
  { stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>,
  env: Environment,
): TailContext {
  const ended = new AbortController()
  // Whoever read has left, as `head` does when it has enough: no reason to complain.
  stdout.on('error', () => ended.abort())
  onStopSignal(() => {
    ended.abort()
    return Promise.resolve()
  })
  return {
    clock: systemClock,
    print: (text) => stdout.write(text),
    warn: (text) => stderr.write(text),
    // A terminal's width changes.
    width: () => (stdout.isTTY ? stdout.columns : Number(env['COLUMNS'])) || unboundedWidth,
    color: stdout.isTTY && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb',
    signal: ended.signal,
  }
}
