import { integerBetween, pickOne, type Random } from '../../src/demo/random.ts'
import { upstreams } from './generated-models.ts'

/**
 * `failing`: part of one upstream's answers are errors. `limited`: it answers 429 to many. `slow`: answers take
 * several times as long and calls queue. `unreachable`: no connection. `stopped`: the gateway does not run.
 */
export type IncidentKind = 'failing' | 'limited' | 'slow' | 'unreachable' | 'stopped'

export interface Incident {
  readonly kind: IncidentKind
  readonly upstream: string
  /** Minutes since the Unix epoch. */
  readonly fromMinute: number
  /** Exclusive. */
  readonly toMinute: number
}

interface Habit {
  readonly everyDays: number
  readonly minutes: readonly [least: number, most: number]
}

const habits: Readonly<Record<IncidentKind, Habit>> = {
  failing: { everyDays: 9, minutes: [50, 70] },
  limited: { everyDays: 12, minutes: [90, 240] },
  slow: { everyDays: 30, minutes: [600, 1440] },
  unreachable: { everyDays: 25, minutes: [6, 20] },
  stopped: { everyDays: 14, minutes: [2, 9] },
}

/** What goes wrong over the days; none of it in the last hour. */
export function generatedIncidents(
  random: Random,
  firstMinute: number,
  minutes: number,
): readonly Incident[] {
  const [one = '', ...others] = upstreams
  return (Object.keys(habits) as IncidentKind[]).flatMap((kind) => {
    const { everyDays, minutes: lasting } = habits[kind]
    const times = Math.round(minutes / 1440 / everyDays)
    return Array.from({ length: times }, () => {
      const length = integerBetween(random, ...lasting)
      const fromMinute = firstMinute + integerBetween(random, 0, Math.max(0, minutes - length - 60))
      const upstream = pickOne(random, [one, ...others])
      return { kind, upstream, fromMinute, toMinute: fromMinute + length }
    })
  })
}

export function incidentsAt(incidents: readonly Incident[], minute: number): readonly Incident[] {
  return incidents.filter(({ fromMinute, toMinute }) => fromMinute <= minute && minute < toMinute)
}
