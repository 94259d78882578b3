/** Shown for an unknown figure. Never 0: zero is a figure. */
export const unknownFigure = '–'

/** How numbers are spaced: a page can use narrow spaces, a terminal only what every font has. */
export interface NumberSpacing {
  /** Between groups of three digits. */
  readonly group: string
  /** Between a number and its unit. */
  readonly gap: string
}

/** Figures in words. Unless it says otherwise each has three digits that count. */
export interface NumberFormat {
  /** A whole number: 480 000 000. */
  readonly count: (value: number) => string
  /** `1 call`, `2 calls`. */
  readonly counted: (value: number, one: string, many?: string) => string
  /** A count: 950, 12.3 K, 3.45 M, 12 B. Below 10 000 it is exact. */
  readonly shortCount: (value: number) => string
  /** A measured time, from milliseconds: 0.42 ms, 12 ms, 2.00 s, 2 min 3 s, 1 h 5 min. */
  readonly duration: (ms: number) => string
  /** A time that was chosen, not measured: 500 ms, 2 s, 1 min 40 s. */
  readonly roundDuration: (ms: number) => string
  /** How long a call waited: below a millisecond it did not have to. */
  readonly wait: (ms: number) => string
  /** The two largest units of a time in seconds: 2 d 4 h, 3 h 5 min, 12 min 8 s, 45 s. */
  readonly longDuration: (seconds: number) => string
  /** A share, 0 to 1, in percent: 0 %, 0.42 %, 1.4 %, 12.3 %. */
  readonly percent: (share: number) => string
  /** A share among others, in whole percent: <1 %, 3 %, 89 %. */
  readonly roughPercent: (share: number) => string
  /** A sum of dollars: $0.0042, $1.24, $1,240. What costs nothing is $0. */
  readonly dollars: (usd: number) => string
  /** The cost of one call, however small: $0.00000188. */
  readonly exactDollars: (usd: number) => string
  /** Bytes with decimal units, as files are listed: 512 B, 1.2 kB, 3.4 MB. */
  readonly bytes: (value: number) => string
  /** Output tokens per second: 63.4. */
  readonly speed: (tokensPerS: number) => string
}

const locale = 'en'
const three = formatOf({ maximumSignificantDigits: 3, useGrouping: false })
const whole = formatOf({ maximumFractionDigits: 0 })
const exactlyThree = formatOf({ minimumSignificantDigits: 3, maximumSignificantDigits: 3 })
const two = formatOf({ maximumSignificantDigits: 2 })

/** Made with its first number, as the first of all takes 20 ms. */
function formatOf(options: Intl.NumberFormatOptions): Pick<Intl.NumberFormat, 'format'> {
  let made: Intl.NumberFormat | null = null
  return { format: (value) => (made ??= new Intl.NumberFormat(locale, options)).format(value) }
}

const countUnits = [
  [1e12, 'T'],
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'K'],
] as const
const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** The one way in which figures are written, on the page and in a terminal. */
export function numberFormat({ group, gap }: NumberSpacing): NumberFormat {
  const count = (value: number): string => whole.format(value).replaceAll(',', group)

  const shortCount = (value: number): string => {
    if (Math.abs(value) < 10_000) return count(value)
    const [divisor, letter] = countUnits.find(([from]) => Math.abs(value) >= from * 0.9995) ?? [1, '']
    return `${three.format(value / divisor)}${gap}${letter}`
  }

  const longDuration = (seconds: number): string => {
    const s = Math.max(0, Math.round(seconds))
    const parts = [
      [Math.floor(s / 86_400), 'd'],
      [Math.floor(s / 3600) % 24, 'h'],
      [Math.floor(s / 60) % 60, 'min'],
      [s % 60, 's'],
    ] as const
    const first = parts.findIndex(([value]) => value > 0)
    if (first < 0) return `0${gap}s`
    return parts
      .slice(first, first + 2)
      .filter(([value]) => value > 0)
      .map(([value, unit]) => `${value}${gap}${unit}`)
      .join(' ')
  }

  const durationWith = (seconds: Pick<Intl.NumberFormat, 'format'>, ms: number): string => {
    if (ms === 0) return `0${gap}ms`
    if (ms < 0.01) return `<0.01${gap}ms`
    if (ms < 10) return `${Number(ms.toFixed(2))}${gap}ms`
    if (ms < 999.5) return `${whole.format(ms)}${gap}ms`
    return ms < 59_950 ? `${seconds.format(ms / 1000)}${gap}s` : longDuration(ms / 1000)
  }
  const duration = (ms: number): string => durationWith(exactlyThree, ms)

  const dollars = (usd: number): string => {
    if (usd === 0) return '$0'
    if (usd < 0.000_05) return '<$0.0001'
    if (usd < 0.099_95) return `$${usd.toFixed(4)}`
    if (usd < 999.995) return `$${usd.toFixed(2)}`
    return `$${usd < 1e6 ? whole.format(usd) : shortCount(usd)}`
  }

  return {
    count,
    counted: (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`,
    shortCount,
    duration,
    roundDuration: (ms) => durationWith(three, ms),
    wait: (ms) => (ms < 1 ? `<1${gap}ms` : duration(ms)),
    longDuration,
    percent: (share) => {
      const value = share * 100
      if (value > 0 && value < 0.01) return `<0.01${gap}%`
      const format = value < 10 ? two : three
      return `${format.format(value >= 99.95 && value < 100 ? 99.9 : value)}${gap}%`
    },
    roughPercent: (share) =>
      share > 0 && share < 0.01
        ? `<1${gap}%`
        : `${Math.floor(share * 100 + (share < 0.99 ? 0.5 : 0))}${gap}%`,
    dollars,
    exactDollars: (usd) => (usd < 0.1 && usd > 0 ? `$${three.format(usd)}` : dollars(usd)),
    bytes: (value) => {
      const exponent = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
      return `${three.format(value / 1000 ** exponent)}${gap}${byteUnits[exponent] ?? 'B'}`
    },
    speed: (tokensPerS) => three.format(tokensPerS),
  }
}

const narrowSpace = '\u202f'

/** As the page writes figures. */
export const pageFigures: NumberFormat = numberFormat({ group: narrowSpace, gap: narrowSpace })

/** A figure as `show` formats it, or a dash if it is unknown. */
export function known(value: number | null | undefined, show: (value: number) => string): string {
  return value === null || value === undefined ? unknownFigure : show(value)
}

const binaryUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A size in the largest unit of which there is at least one, with one digit after the point: `1.6 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  // What would be shown as 1024.0 is one of the next unit.
  while (value >= 1023.95 && unit < binaryUnits.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${binaryUnits[unit] ?? ''}`
}
