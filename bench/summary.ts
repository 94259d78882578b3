import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'

/** The middle of the values; the mean of the two middle ones of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle]!
  return (sorted[middle - 1]! + sorted[middle]!) / 2
}

/**
 * The middle of the ratios of two targets round by round: a neighbour that is loud for some rounds is loud
 * for both, so this holds where the ratio of two medians does not.
 */
export function medianRatio(values: readonly number[], yardstick: readonly number[]): number {
  return median(values.map((value, round) => value / yardstick[round]!))
}

/** The same to be read; a dash without a yardstick. */
export function pairedRatio(values: readonly number[], yardstick: readonly number[] | undefined): string {
  return yardstick === undefined ? '–' : medianRatio(values, yardstick).toFixed(2)
}

/** Lowest and highest, as `18.1–19.4`. */
export function range(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`
}

/** Columns of equal width; the first is text, the others stand to the right. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ')
  return rows.map(line).join('\n')
}

/** The highest value that a figure may have, and its measured value. */
export interface Goal {
  readonly what: string
  readonly value: number
  readonly atMost: number
  /** `ms`, `×`. */
  readonly unit: string
}

/** `✓ CPU per call 1.31 × bare, goal 1.35`, or with `✗` if it is missed. */
export function verdict({ what, value, atMost, unit }: Goal): string {
  const shown = value.toFixed(value < 0.1 ? 3 : value < 10 ? 2 : 0)
  return `${value <= atMost ? '✓' : '✗ MISSED'} ${what}: ${shown} ${unit}, goal ${atMost}`
}

/** The goal of a ratio to another target; none if either was not measured. */
export function ratioGoal(
  what: string,
  atMost: number,
  values: readonly number[] | undefined,
  yardstick: readonly number[] | undefined,
  than: string = 'bare',
): readonly Goal[] {
  if (values === undefined || yardstick === undefined) return []
  return [{ what, value: medianRatio(values, yardstick), atMost, unit: `× ${than}` }]
}

/** Says that a figure is void if the helpers without a proxy reach less than twice its rate: it measures them, too. */
export function voidRate(name: string, perS: number, directPerS: number): readonly string[] {
  return directPerS < 2 * perS ? [`${name}: void, the direct rate is below twice the proxied one`] : []
}

/** Says that a figure is void if less came than was due. */
export function voidLoad(name: string, perS: number, duePerS: number): readonly string[] {
  return perS < 0.95 * duePerS
    ? [`${name}: void, ${perS.toFixed(0)} a second came of ${duePerS.toFixed(0)} that were due`]
    : []
}

export function voidFailures(
  name: string,
  samples: readonly { readonly failed: number }[],
): readonly string[] {
  return samples.some(({ failed }) => failed > 0) ? [`${name}: void, calls failed`] : []
}

/** What a program found: a table for people, and every measured value. */
export interface BenchResult {
  readonly name: string
  readonly title: string
  readonly table: readonly (readonly string[])[]
  readonly goals: readonly Goal[]
  /** Reasons for which a figure must not be quoted. */
  readonly notes: readonly string[]
  readonly data: unknown
}

/** Writes `results/<name>.json` and gives its path. */
export async function writeResult(result: BenchResult): Promise<string> {
  const directory = new URL('results/', import.meta.url)
  await mkdir(directory, { recursive: true })
  const file = new URL(`${result.name}.json`, directory)
  const machine = {
    node: process.version,
    platform: process.platform,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
  }
  await writeFile(file, `${JSON.stringify({ at: new Date().toISOString(), machine, ...result }, null, 2)}\n`)
  return `bench/results/${result.name}.json`
}
