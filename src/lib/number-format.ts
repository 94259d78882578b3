/**
 * Numbers for people, on the page, in a terminal and in messages: `docs/dashboard.md` has the rules. Programs
 * get plain numbers.
 */

/** Shown for an unknown figure. Never 0: zero is a figure. */
export const unknownFigure = '–'

/** A figure as `show` writes it; a dash if it is unknown. */
export function orDash(value: number | null | undefined, show: (value: number) => string): string {
  return value === null || value === undefined ? unknownFigure : show(value)
}

const three = formatOf({ maximumSignificantDigits: 3 })
const wholeNumber = formatOf({ maximumFractionDigits: 0 })
const exactlyThree = formatOf({ minimumSignificantDigits: 3, maximumSignificantDigits: 3 })
const two = formatOf({ maximumSignificantDigits: 2 })
const cents = formatOf({ minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A formatter, which is created at its first use, because the first one takes 20 ms. */
function formatOf(options: Intl.NumberFormatOptions): (value: number) => string {
  let formatter: Intl.NumberFormat | null = null
  return (value) => (formatter ??= new Intl.NumberFormat('en', options)).format(value)
}

/** A whole number: 480,000,000. */
export function count(value: number): string {
  return wholeNumber(value)
}

/** `1 call`, `2 calls`. */
export function counted(value: number, singular: string, plural: string = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`
}

const countUnits = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const

/** A short count, exact below 10,000: 950, 12.3K, 3.45M, 12B. */
export function shortCount(value: number): string {
  if (Math.abs(value) < 10_000) return count(value)
  const [divisor, letter] = countUnits.find(([from]) => Math.abs(value) >= from * 0.9995) ?? [1, '']
  return `${three(value / divisor)}${letter}`
}

/** A measured time, given in milliseconds, with three digits: 420 µs, 12 ms, 2.00 s, 2 min 3 s, 1 h 5 min. */
export function duration(ms: number): string {
  return durationWith(exactlyThree, ms)
}

/** A time that was set, not measured, given in milliseconds: 500 ms, 2 s, 1 min 40 s. */
export function roundDuration(ms: number): string {
  return durationWith(three, ms)
}

function durationWith(seconds: (value: number) => string, ms: number): string {
  if (ms === 0) return '0 ms'
  if (ms < 0.001) return '<1 µs'
  if (ms < 0.9995) return `${wholeNumber(ms * 1000)} µs`
  if (ms < 10) return `${Number(ms.toFixed(2))} ms`
  if (ms < 999.5) return `${wholeNumber(ms)} ms`
  return ms < 59_950 ? `${seconds(ms / 1000)} s` : longDuration(ms / 1000)
}

/** A wait for a slot, given in milliseconds; `<1 ms` for less than one. */
export function wait(ms: number): string {
  return ms < 1 ? '<1 ms' : duration(ms)
}

/** A time in its two largest units, given in seconds: 2 d 4 h, 3 h 5 min, 12 min 8 s, 45 s. */
export function longDuration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds))
  const parts = [
    [Math.floor(s / 86_400), 'd'],
    [Math.floor(s / 3600) % 24, 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ] as const
  const first = parts.findIndex(([value]) => value > 0)
  if (first < 0) return '0 s'
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ')
}

/** A share, 0 to 1, as 0%, 0.42%, 1.4%, 12.3%. Only a share of exactly 1 is 100%. */
export function percent(share: number): string {
  const value = share * 100
  if (value > 0 && value < 0.01) return '<0.01%'
  const format = value < 10 ? two : three
  return `${format(value >= 99.95 && value < 100 ? 99.9 : value)}%`
}

/** Dollars: $1,240.50; below ten cents with three digits: $0.0169; 0 as $0. */
export function dollars(usd: number): string {
  if (usd === 0) return '$0'
  return `$${usd < 0.099_95 ? three(usd) : cents(usd)}`
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Bytes with decimal units, as files are listed: 512 B, 1.2 kB, 3.4 MB. */
export function bytes(value: number): string {
  const exponent = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
  return `${three(value / 1000 ** exponent)} ${byteUnits[exponent] ?? 'B'}`
}

/** A speed, such as output tokens per second: 63.4. */
export function speed(perS: number): string {
  return three(perS)
}
