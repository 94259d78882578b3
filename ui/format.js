const narrowSpace = '\u202f'

/** Numbers and times as the reader's browser writes them. */
export class Format {
  #number
  #percent
  #dateTime
  #time

  /** @param {string} wanted a language tag; a headless browser may bring one that `Intl` refuses */
  constructor(wanted) {
    const locale = usableLocale(wanted)
    this.#number = new Intl.NumberFormat(locale)
    this.#percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
    this.#dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
    this.#time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
  }

  /**
   * With thin separators: 480 000 000.
   *
   * @param {number} value
   */
  count(value) {
    return this.#number
      .formatToParts(value)
      .map(({ type, value: text }) => (type === 'group' ? narrowSpace : text))
      .join('')
  }

  /**
   * @param {number} value
   * @param {string} one
   * @param {string} many
   */
  counted(value, one, many) {
    return `${this.count(value)} ${value === 1 ? one : many}`
  }

  /** @param {number} value 0 to 100 */
  percent(value) {
    return value > 0 && value < 0.1
      ? `under ${this.#percent.format(0.001)}`
      : this.#percent.format(value / 100)
  }

  /** @param {Date} date */
  dateTime(date) {
    return this.#dateTime.format(date)
  }

  /** @param {Date} date */
  time(date) {
    return this.#time.format(date)
  }

  /**
   * The two largest units: 2 d 4 h, 3 h 5 min, 12 min, 45 s.
   *
   * @param {number} seconds
   */
  duration(seconds) {
    const minutes = Math.floor(seconds / 60)
    const hours = Math.floor(minutes / 60)
    const days = Math.floor(hours / 24)
    if (days > 0) return `${this.count(days)} d ${hours % 24} h`
    if (hours > 0) return `${hours} h ${minutes % 60} min`
    return minutes > 0 ? `${minutes} min` : `${Math.max(0, Math.floor(seconds))} s`
  }
}

/** @param {string} wanted */
function usableLocale(wanted) {
  try {
    return Intl.NumberFormat.supportedLocalesOf(wanted)[0] ?? 'en'
  } catch {
    return 'en'
  }
}
