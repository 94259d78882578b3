/** Figures in words. Unless it says otherwise each has three digits that count. */

/** What stands for a figure that is not known. Never 0: zero is a figure. */
export const unknownFigure = '–'

/** Between groups of three digits, and between a number and its unit. */
const narrowSpace = '\u202f'
const locale = 'en'
const three = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3, useGrouping: false })
const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const exactlyThree = new Intl.NumberFormat(locale, {
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
})
const two = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })

const countUnits = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const
const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** A whole number: 480 000 000. */
export function count(value: number): string {
  return whole.format(value).replaceAll(',', narrowSpace)
}

/** `1 call`, `2 calls`. */
export function counted(value: number, one: string, many: string = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

/** A count: 950, 12.3 K, 3.45 M, 12 B. Below 10 000 it is exact. */
export function shortCount(value: number): string {
  if (Math.abs(value) < 10_000) return count(value)
  const [divisor, letter] = countUnits.find(([from]) => Math.abs(value) >= from * 0.9995) ?? [1, '']
  return withUnit(three.format(value / divisor), letter)
}

/** A measured time, from milliseconds: 0.42 ms, 12 ms, 2.00 s, 2 min 3 s, 1 h 5 min. */
export function duration(ms: number): string {
  return durationWith(exactlyThree, ms)
}

/** A time that was chosen, not measured: 500 ms, 2 s, 1 min 40 s. */
export function roundDuration(ms: number): string {
  return durationWith(three, ms)
}

/** How long a call waited: below a millisecond it did not have to. */
export function wait(ms: number): string {
  return ms < 1 ? withUnit('<1', 'ms') : duration(ms)
}

/** The two largest units of a time in seconds: 2 d 4 h, 3 h 5 min, 12 min 8 s, 45 s. */
export function longDuration(seconds: number): string {
  const s = Math.max(0, Math.round(seconds))
  const parts = [
    [Math.floor(s / 86_400), 'd'],
    [Math.floor(s / 3600) % 24, 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ] as const
  const first = parts.findIndex(([value]) => value > 0)
  if (first < 0) return withUnit('0', 's')
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => withUnit(String(value), unit))
    .join(' ')
}

/** A share, 0 to 1, in percent: 0 %, 0.42 %, 1.4 %, 12.3 %. */
export function percent(share: number): string {
  const value = share * 100
  if (value > 0 && value < 0.01) return withUnit('<0.01', '%')
  const format = value < 10 ? two : three
  return withUnit(format.format(value >= 99.95 && value < 100 ? 99.9 : value), '%')
}

/** A share among others, in whole percent: <1 %, 3 %, 89 %. */
export function roughPercent(share: number): string {
  if (share > 0 && share < 0.01) return withUnit('<1', '%')
  return withUnit(String(Math.floor(share * 100 + (share < 0.99 ? 0.5 : 0))), '%')
}

/** A sum of dollars: $0.0042, $1.24, $1,240. What costs nothing is $0. */
export function dollars(usd: number): string {
  if (usd === 0) return '$0'
  if (usd < 0.000_05) return '<$0.0001'
  if (usd < 0.099_95) return `$${usd.toFixed(4)}`
  if (usd < 999.995) return `$${usd.toFixed(2)}`
  return `$${usd < 1e6 ? whole.format(usd) : shortCount(usd)}`
}

/** What one call cost, however little it is: $0.00000188. */
export function exactDollars(usd: number): string {
  return usd < 0.1 && usd > 0 ? `$${three.format(usd)}` : dollars(usd)
}

/** Bytes with decimal units, as files are listed: 512 B, 1.2 kB, 3.4 MB. */
export function bytes(value: number): string {
  const exponent = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
  return withUnit(three.format(value / 1000 ** exponent), byteUnits[exponent] ?? 'B')
}

/** Output tokens per second: 63.4. */
export function speed(tokensPerS: number): string {
  return three.format(tokensPerS)
}

/** What `show` makes of a figure, or a dash if it is not known. */
export function known(value: number | null | undefined, show: (value: number) => string): string {
  return value === null || value === undefined ? unknownFigure : show(value)
}

function durationWith(seconds: Intl.NumberFormat, ms: number): string {
  if (ms === 0) return withUnit('0', 'ms')
  if (ms < 0.01) return withUnit('<0.01', 'ms')
  if (ms < 10) return withUnit(String(Number(ms.toFixed(2))), 'ms')
  if (ms < 999.5) return withUnit(whole.format(ms), 'ms')
  return ms < 59_950 ? withUnit(seconds.format(ms / 1000), 's') : longDuration(ms / 1000)
}

function withUnit(figure: string, unit: string): string {
  return `${figure}${narrowSpace}${unit}`
}
