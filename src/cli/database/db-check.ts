import { type CheckReport, checkStore, type Sampled } from '../../store/jobs/check-store.ts'
import { exitCode } from '../exit-code.ts'
import type { CommandContext } from '../parse-options.ts'
import { count, counted } from '../../lib/number-format.ts'
import { done } from './database-job.ts'
import { type OptionsOf, optionTable } from '../../options/option-spec.ts'
import { database, flag } from '../option-rows.ts'

export const example = 'tokenweir db check'
export const use = 'reads'
export const table = optionTable({
  full: flag('recount every hour instead of a sample; takes minutes for millions of calls'),
  db: database(),
})

/** Most instants that one line names. */
const namedAtMost = 5

const rebuildAdvice = '`tokenweir db rebuild` recounts the calls and corrects the totals.'

/** `tokenweir db check`: prints whether the database is intact. Returns the exit code; throws `JobError`. */
export function run(
  options: OptionsOf<typeof table>,
  { terminal: { print } }: CommandContext,
  check: typeof checkStore = checkStore,
): number {
  const report = done(check(options.db, { full: options.full }), options.db)
  const { integrity, hours, days } = report
  const isSound = integrity.length + hours.wrongMs.length + days.wrongMs.length === 0
  const verdict = isSound ? 'is intact' : 'is DAMAGED'
  const advice = isSound || integrity.length > 0 ? '' : ` ${rebuildAdvice}`
  print(`${linesOf(report).join('\n')}\n${options.db} ${verdict}.${advice}\n`)
  return isSound ? 0 : exitCode.fault
}

function linesOf(report: CheckReport): readonly string[] {
  const { integrity, hours, days, callsToAdd, foldedUntilMs } = report
  if (integrity.length > 0) return ['✗ the file is damaged:', ...integrity.map((line) => `    ${line}`)]
  const folded = foldedUntilMs === null ? '' : `; those before ${instant(foldedUntilMs)} are rolled up`
  const toAdd = `· not in the totals yet: ${counted(callsToAdd, 'call')}; queries count them individually`
  return [
    '✓ file, tables and indexes are intact',
    `✓ ${counted(report.calls, 'call')}${folded}`,
    sumsLine(hours, 'hours', 'calls'),
    sumsLine(days, 'days', 'hours'),
    ...(callsToAdd > 0 ? [toAdd] : []),
  ]
}

/** A line on the checked sums of hours or days, which were compared with their `parts`. */
function sumsLine({ checked, of, wrongMs }: Sampled, what: string, parts: string): string {
  if (wrongMs.length === 0) return `✓ ${what} that match their ${parts}: ${count(checked)} of ${count(of)}`
  const instants = wrongMs.slice(0, namedAtMost).map(instant)
  const more = wrongMs.length > instants.length ? ', …' : ''
  return `✗ ${what} that differ from their ${parts}: ${count(wrongMs.length)} of ${count(checked)}: ${instants.join(', ')}${more}`
}

function instant(ms: number): string {
  return new Date(ms).toISOString().replace(/:00\.000Z$/, 'Z')
}
