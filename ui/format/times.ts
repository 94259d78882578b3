const minuteMs = 60_000
const hourMs = 3_600_000

/** Each is made when it is first needed. */
const forms = {
  clock: { hour: '2-digit', minute: '2-digit' },
  seconds: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  dayOfYear: { day: 'numeric', month: 'short', year: 'numeric' },
  year: { year: 'numeric' },
  full: { dateStyle: 'medium', timeStyle: 'medium' },
  inUtc: { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' },
} as const satisfies Readonly<Record<string, Intl.DateTimeFormatOptions>>

type Form = keyof typeof forms

/** Instants as the reader's clock shows them, or in UTC. All take milliseconds since the Unix epoch. A date has its year where that is not the present one. */
export class Times {
  /** IANA name, for the dashboard's questions. */
  readonly zone: string
  /** The time at the dashboard. */
  readonly now: () => number
  /** Behind a time where the zone is not the reader's own: ` UTC`. */
  readonly suffix: string
  readonly #write: (form: Form, ms: number) => string

  constructor(utc: boolean, now: () => number) {
    this.now = now
    this.zone = utc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
    this.suffix = utc ? ' UTC' : ''
    const cache: Partial<Record<Form, Intl.DateTimeFormat>> = {}
    this.#write = (form, ms) =>
      (cache[form] ??= new Intl.DateTimeFormat('en-GB', { timeZone: this.zone, ...forms[form] })).format(ms)
  }

  /** 14:05 */
  clock(ms: number): string {
    return this.#write('clock', ms)
  }

  /** 14:05:09 */
  seconds(ms: number): string {
    return this.#write('seconds', ms)
  }

  /** 21 Nov, or 21 Nov 2025 */
  day(ms: number): string {
    const isOfThisYear = this.#write('year', ms) === this.#write('year', this.now())
    return this.#write(isOfThisYear ? 'day' : 'dayOfYear', ms)
  }

  /** When a day of the calendar, `2026-11-21`, begins; NaN if the text is none. */
  dayStartMs(day: string): number {
    return Date.parse(`${day}T00:00:00${this.suffix === '' ? '' : 'Z'}`)
  }

  /** A day of the calendar, `2026-11-21`, as 21 Nov. */
  namedDay(day: string): string {
    return this.day(this.dayStartMs(day) + 12 * hourMs)
  }

  /** 21 Nov, 14:05 */
  dayAndClock(ms: number): string {
    return `${this.day(ms)}, ${this.clock(ms)}`
  }

  /** 21 Nov 2026, 14:05:09 */
  full(ms: number): string {
    return `${this.#write('full', ms)}${this.suffix}`
  }

  /** For a tooltip: the same instant in UTC. */
  inUtc(ms: number): string {
    return `${this.#write('inUtc', ms)} UTC`
  }

  /** 21 Nov, 09:00 to 10:30; with both days where they are two, and with seconds in a short span that has some. */
  between(fromMs: number, toMs: number): string {
    const isShort = toMs - fromMs < hourMs && (fromMs % minuteMs !== 0 || toMs % minuteMs !== 0)
    const time = (ms: number): string => (isShort ? this.seconds(ms) : this.clock(ms))
    const [from, to] = [this.day(fromMs), this.day(toMs)]
    return `${from}, ${time(fromMs)} to ${from === to ? '' : `${to}, `}${time(toMs)}${this.suffix}`
  }

  /** Today's calls by the clock, older ones with their day too. */
  short(ms: number, nowMs: number): string {
    return this.day(ms) === this.day(nowMs) ? this.seconds(ms) : `${this.day(ms)} ${this.seconds(ms)}`
  }
}
