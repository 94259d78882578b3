import type {
  CompressProgress,
  CompressResult,
  DatabaseJob,
  DatabaseSize,
} from '../../src/api/database-job.ts'
import { bytes, counted, longDuration, percent, unknownFigure } from '../format/figures.ts'

/** The dashboard's bounds and default of the days to keep. */
export const keptDays = { least: 1, most: 36_500, usual: 90 } as const

/** Reads days from a field's text; null if the dashboard would reject them. */
export function daysOf(text: string): number | null {
  const days = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN
  return days >= keptDays.least && days <= keptDays.most ? days : null
}

/** Returns a text on the file's growth, and the time until the disk is full. */
export function growthWords(size: DatabaseSize | null, nowMs: number): string {
  const perDay = size?.growth_bytes_per_day
  if (size === null || perDay === undefined || perDay === null) return unknownFigure
  const rate = `about ${bytes(perDay)} per day`
  if (size.disk_full_at === null) return rate
  const days = Math.max(0, Math.floor((Date.parse(size.disk_full_at) - nowMs) / 86_400_000))
  const timeLeft = days > 730 ? `${Math.floor(days / 365)} years` : counted(days, 'day')
  return `${rate}; disk full in ${timeLeft}`
}

/** Returns a text on the effect of compressing. */
export function estimateWords(result: CompressResult): string {
  const { folded_calls: calls } = result
  const freed = freedBytes(result)
  if (calls === 0 && freed < smallBytes) return 'Nothing to roll up: no calls are that old.'
  if (calls === 0) return `No calls are that old, but compressing would free about ${bytes(freed)}.`
  const gain = freed < smallBytes ? 'less than 1 MB' : `about ${bytes(freed)}`
  return `${counted(calls, 'call')} would be rolled up, freeing ${gain}.`
}

/** True if compressing is worth it. */
export function isWorthIt(result: CompressResult): boolean {
  return result.folded_calls > 0 || freedBytes(result) >= smallBytes
}

/** Returns the consequences of compressing, which the reader sees before it. */
export function compressPoints(keepDays: number, { folded_calls: calls }: CompressResult): readonly string[] {
  const days = counted(keepDays, 'day')
  const loss =
    calls === 0
      ? []
      : [
          `${counted(calls, 'call')} older than ${days} will be rolled up into hourly totals. Counts, costs and percentiles are kept, by model, client, upstream and tag.`,
          'Deleted: the calls themselves, their sessions, search by ID, and figures per minute.',
          'This cannot be undone.',
        ]
  return [...loss, 'The gateway keeps recording meanwhile.']
}

/** Returns the current phase, and its progress from 0 to 1; null while unknown. */
export function progressWords(progress: CompressProgress | null): {
  readonly words: string
  readonly share: number | null
} {
  if (progress === null) return { words: 'Starting…', share: null }
  const share = progress.total === 0 ? null : Math.min(1, progress.done / progress.total)
  const far = share === null ? '' : `, ${percent(Math.floor(share * 100) / 100)}`
  return { words: `${phaseWords[progress.phase]}${far}`, share }
}

const phaseWords: Readonly<Record<CompressProgress['phase'], string>> = {
  roll_up: 'Adding up new calls',
  fold: 'Rolling up old calls',
  give_back: 'Shrinking the file',
}

/** Returns a text on the result of the last job; null if none has ended. */
export function outcomeWords(job: DatabaseJob | null): string | null {
  if (job === null || job.dry_run) return null
  if (job.state === 'failed') return job.error?.message ?? 'Compressing failed.'
  if (job.state === 'running' || job.result === null) return null
  const { folded_calls: calls, duration_ms: ms } = job.result
  const took = `in ${longDuration(Math.max(1, ms / 1000))}`
  const freed = freedBytes(job.result)
  if (calls === 0 && freed < smallBytes) return 'Nothing to roll up.'
  return `Rolled up ${counted(calls, 'call')} and freed ${bytes(freed)} ${took}.`
}

/** Fewer bytes are not worth mentioning. */
const smallBytes = 1_000_000

function freedBytes({ before_bytes: before, after_bytes: after }: CompressResult): number {
  return Math.max(0, before - after)
}
