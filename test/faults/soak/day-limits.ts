import type { Sample } from './day-watch.ts'
import { hoursOfDay } from './day.ts'

/** In megabytes, at any moment of the day. */
const most = { wal: 64, log: 1, payloads: 4 } as const
/**
 * By how much the most of the last third of a day may be above the most of the middle one. Each has one peak, as high as
 * the other; what a peak takes, Node keeps for a while.
 */
const growth = { share: 0.1, megabytes: 20 } as const
/** A shorter day ends before everything is compiled and every buffer has its size. */
const fullDayMinutes = 10
const shortDayMegabytes = 80

/** What a log says of what the day itself brought about. */
const broughtAbout = [
  /listening on http/,
  /concurrent calls; others queue/,
  /try it: {2}curl/,
  /see it: {2}/,
  /calls are recorded in/,
  /old calls were rolled up/,
  /has taken over: calls in flight/,
  /stopping after calls in flight/,
  /The gateway was started again \(process \d+\)/,
]
/** The dashboard may start a killed gateway before the day does. */
const startedAgain = /crashed\. It is started again/

/** What the samples and the log say against the bounds. */
export function dayFaults(
  samples: readonly Sample[],
  log: string,
  minutes: number,
  kills: number,
): { readonly words: string; readonly faults: readonly string[] } {
  const faults: string[] = []
  const words: string[] = []
  const third = hoursOfDay / 3
  for (const name of ['gateway', 'dashboard', 'queries'] as const) {
    const between = (from: number, to: number): number =>
      Math.max(0, ...samples.filter(({ hour }) => hour >= from && hour < to).map((sample) => sample[name]))
    const [middle, last] = [between(third, 2 * third), between(2 * third, hoursOfDay)]
    const room =
      minutes < fullDayMinutes ? shortDayMegabytes : Math.max(growth.megabytes, middle * growth.share)
    words.push(
      `${name} at most ${middle.toFixed(0)} MB in the middle third, ${last.toFixed(0)} MB in the last`,
    )
    if (last > middle + room) faults.push(`grown: ${words.at(-1)}`)
  }
  for (const [name, limit] of Object.entries(most) as [keyof typeof most, number][]) {
    const largest = Math.max(0, ...samples.map((sample) => sample[name]))
    words.push(`${name} ${largest.toFixed(1)} MB`)
    if (largest > limit) faults.push(`the ${name} had ${largest.toFixed(1)} MB of at most ${limit}`)
  }
  const lines = [...new Set(log.split('\n'))].filter((line) => line !== '')
  const crashes = lines.filter((line) => startedAgain.test(line))
  if (crashes.length > kills) faults.push(`${crashes.length} crashes of ${kills} kills: ${crashes.at(-1)}`)
  for (const line of lines)
    if (![...broughtAbout, startedAgain].some((pattern) => pattern.test(line))) faults.push(`log: ${line}`)
  return { words: words.join(', '), faults }
}

/** One line of a day's table as it goes. */
export function hourLine(
  hour: number,
  calls: number,
  open: number,
  sample: Sample | undefined,
  done: readonly string[],
): string {
  const memory =
    sample === undefined
      ? ''
      : `gateway ${sample.gateway.toFixed(0)} MB, ${sample.gatewayFiles} files; dashboard ${sample.dashboard.toFixed(0)} MB, its questions ${sample.queries.toFixed(0)} MB, ${sample.dashboardFiles} files; ` +
        `database ${sample.database.toFixed(1)} MB, WAL ${sample.wal.toFixed(1)} MB`
  return `${String(hour).padStart(2, '0')}:00  ${calls} calls, ${open} open; ${memory}${done.length > 0 ? `; ${done.join(', ')}` : ''}`
}

/** 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
