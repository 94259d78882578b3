import { ownTimeZone } from '../../src/lib/zoned-time.ts'

const minuteMs = 60_000
const hourMs = 3_600_000

/** The formats; each formatter is made when it is first needed. */
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

/**
 * Formats instants (milliseconds since the Unix epoch) in the reader's zone or in UTC. Dates of other years include
 * the year.
 */
export class Times {
  /** The IANA name of the zone, for the API. */
  readonly zone: string
  /** True if the reader's own zone is UTC, too, so that there is no other to choose. */
  readonly isAlwaysUtc: boolean
  /** Returns the dashboard's time. */
  readonly now: () => number
  /** Text behind a time if the zone is not the reader's own: ` UTC`. */
  readonly suffix: string
  readonly #write: (form: Form, ms: number) => string

  constructor(utc: boolean, now: () => number) {
    this.now = now
    const ownZone = ownTimeZone()
    this.zone = utc ? 'UTC' : ownZone
    this.isAlwaysUtc = /^(Etc\/)?UTC$/.test(ownZone)
    this.suffix = utc ? ' UTC' : ''
    const cache: Partial<Record<Form, Intl.DateTimeFormat>> = {}
    this.#write = (form, ms) =>
      (cache[form] ??= new Intl.DateTimeFormat('en-GB', { timeZone: this.zone, ...forms[form] })).format(ms)
  }

  /** `14:05` */
  clock(ms: number): string {
    return this.#write('clock', ms)
  }

  /** `14:05:09` */
  seconds(ms: number): string {
    return this.#write('seconds', ms)
  }

  /** `21 Nov`, or `21 Nov 2025` */
  day(ms: number): string {
    const isOfThisYear = this.#write('year', ms) === this.#write('year', this.now())
    return this.#write(isOfThisYear ? 'day' : 'dayOfYear', ms)
  }

  /** Returns the start of a calendar day (`2026-11-21`); NaN if the text is no day. */
  dayStartMs(day: string): number {
    return Date.parse(`${day}T00:00:00${this.suffix === '' ? '' : 'Z'}`)
  }

  /** Returns a calendar day (`2026-11-21`) as `21 Nov`. */
  namedDay(day: string): string {
    return this.day(this.dayStartMs(day) + 12 * hourMs)
  }

  /** `21 Nov, 14:05` */
  dayAndClock(ms: number): string {
    return `${this.day(ms)}, ${this.clock(ms)}`
  }

  /** `21 Nov 2026, 14:05:09` */
  full(ms: number): string {
    return `${this.#write('full', ms)}${this.suffix}`
  }

  /** Returns the instant in UTC, for a tooltip. */
  inUtc(ms: number): string {
    return `${this.#write('inUtc', ms)} UTC`
  }

  /**
   * Returns a span: `21 Nov, 09:00 to 10:30`. Both days appear if they differ, and seconds in a short span that has
   * some.
   */
  between(fromMs: number, toMs: number): string {
    const isShort = toMs - fromMs < hourMs && (fromMs % minuteMs !== 0 || toMs % minuteMs !== 0)
    const time = (ms: number): string => (isShort ? this.seconds(ms) : this.clock(ms))
    const [from, to] = [this.day(fromMs), this.day(toMs)]
    return `${from}, ${time(fromMs)} to ${from === to ? '' : `${to}, `}${time(toMs)}${this.suffix}`
  }

  /** Returns the time of a call: `14:05:09` for today, with the day before it for other days. */
  short(ms: number, nowMs: number = this.now()): string {
    return this.day(ms) === this.day(nowMs) ? this.seconds(ms) : `${this.day(ms)} ${this.seconds(ms)}`
  }
}
