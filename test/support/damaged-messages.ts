import { seededRandom } from './seeded-random.ts'

/** How a message of another process can be other than this version would write it. */
export type Damage = 'junk' | 'cut' | 'older' | 'newer'

const strange: readonly unknown[] = [
  null,
  true,
  -1,
  '5',
  '',
  'junk',
  '__proto__',
  [],
  [null],
  {},
  { pid: 1 },
  { error: null },
  { error: 5 },
]

/** `count` texts that stand in the place of a message; the same for the same seed. None of them has a line break. */
export function damagedTexts(message: object, damage: Damage, count: number, seed = 1): readonly string[] {
  const random = seededRandom(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const text = JSON.stringify(message)
  const make: Readonly<Record<Damage, () => string>> = {
    junk: () => {
      const kind = random()
      if (kind < 0.3) return JSON.stringify(pick(strange))
      if (kind < 0.5) return noise(random)
      // Its own names with strange values, every one of them.
      return JSON.stringify(mapMembers(message, () => pick(strange)))
    },
    cut: () => text.slice(0, Math.floor(random() * text.length)),
    older: () => {
      const names = Object.keys(message)
      const gone = pick(names)
      return JSON.stringify(Object.fromEntries(Object.entries(message).filter(([name]) => name !== gone)))
    },
    newer: () => JSON.stringify({ ...message, [`new_${Math.floor(random() * 1000)}`]: pick(strange) }),
  }
  return Array.from({ length: count }, make[damage])
}

function mapMembers(message: object, change: () => unknown): object {
  return Object.fromEntries(Object.keys(message).map((name) => [name, change()]))
}

function noise(random: () => number): string {
  const codes = Array.from({ length: 1 + Math.floor(random() * 80) }, () => Math.floor(random() * 0x250))
  return String.fromCharCode(...codes).replaceAll(/[\r\n]/g, ' ')
}
