/**
 * R49: gateways that share one pool of slots, in a world that is made up: random schedules of calls, lost, repeated and late
 * messages, pauses, suspends, clocks that are set, gateways that are cut off or die, a pool that freezes or loses its state. Never are
 * more calls at the upstream than there are slots, but by those whose holder the pool had to give up; and in the end all are served.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import { seededRandom } from '../support/seeded-random.ts'
import { SlotPool } from '../support/slot-pool.ts'
import { type Faults, type Gateway, type MakePool, World, leaseMs } from './slot-world.ts'

/** For all to be served once nothing goes wrong any more. */
const mostLeases = 60
const quiet: Faults = {
  lost: 0,
  twice: 0,
  delayMs: 2,
  late: 0,
  pauses: false,
  cuts: false,
  deaths: false,
  freezes: false,
  resets: false,
}

/** Thirty seconds in which things go wrong, then peace until all is served. */
function runSchedule(seed: number, faults: Faults, makePool: MakePool): void {
  const chance = seededRandom(seed * 7919 + 1)
  const world = new World(seed, 1 + Math.floor(chance() * 12), 2 + Math.floor(chance() * 4), faults, makePool)
  const badMs = 30_000
  const calls = 10 + Math.floor(chance() * 60)
  for (let at = 0; at < calls; at++) {
    const gateway = world.gateways[Math.floor(chance() * world.gateways.length)]!
    const durationMs = chance() < 0.1 ? chance() * 25_000 : chance() * 1500
    world.at(chance() * badMs, () => gateway.arrives(durationMs))
  }
  const trouble = (share: number, run: (gateway: Gateway) => void): void => {
    const times = chance() < share ? 1 + Math.floor(chance() * 3) : 0
    for (let at = 0; at < times; at++) {
      const gateway = world.gateways[Math.floor(chance() * world.gateways.length)]!
      world.at(chance() * badMs, () => run(gateway))
    }
  }
  if (faults.pauses) {
    trouble(0.7, (gateway) => gateway.pause(chance() * 1.6 * leaseMs, chance() < 0.5))
    trouble(0.3, (gateway) => gateway.setWallClock((chance() - 0.5) * 4 * leaseMs))
  }
  if (faults.cuts) {
    trouble(0.7, (gateway) => {
      gateway.isCutOff = true
      world.at(world.nowMs + chance() * 2 * leaseMs, () => (gateway.isCutOff = false))
    })
  }
  if (faults.deaths) trouble(0.6, (gateway) => gateway.dies())
  if (faults.freezes) trouble(0.5, () => world.freeze(chance() * 1.2 * leaseMs))
  if (faults.resets) trouble(0.5, () => world.reset())
  world.run(badMs)
  const peace = { ...quiet, delayMs: Math.min(faults.delayMs, 30) }
  Object.assign(world.faults, peace)
  const living = (): readonly Gateway[] => world.gateways.filter(({ isDead }) => !isDead)
  const left = (): number =>
    living().reduce((sum, { waiting, active, held }) => sum + waiting.length + active + held, world.pool.held)
  for (let at = 1; at <= mostLeases; at++) {
    world.run(badMs + at * leaseMs)
    world.endLeases()
    if (left() === 0) return
  }
  assert.fail(
    `not at rest: ${JSON.stringify(living().map(({ name, waiting, active, held }) => ({ name, waiting, active, held })))}, the pool holds ${world.pool.held}`,
  )
}

/** What goes wrong, by kind. */
export const kinds: Readonly<Record<string, Partial<Faults>>> = {
  'nothing goes wrong': {},
  'messages are lost, come twice, and overtake each other': { lost: 0.2, twice: 0.2, delayMs: 400 },
  'messages take seconds': { twice: 0.3, delayMs: 4000 },
  'some messages come after their lease': { twice: 0.3, delayMs: 30, late: 0.2, cuts: true },
  'gateways pause, are suspended, and their clocks are set': { pauses: true, delayMs: 30 },
  'gateways are cut off': { cuts: true, lost: 0.05, delayMs: 30 },
  'gateways die': { deaths: true, delayMs: 30 },
  'the pool freezes': { freezes: true, delayMs: 30 },
  'the pool loses its state': { resets: true, delayMs: 30 },
  'everything at once': {
    lost: 0.1,
    late: 0.05,
    twice: 0.1,
    delayMs: 300,
    pauses: true,
    cuts: true,
    deaths: true,
    freezes: true,
    resets: true,
  },
}

/** Runs so many schedules of a kind. Throws, with the schedule's number, where one breaks a promise. */
export function runSchedules(
  kind: string,
  count: number,
  makePool: MakePool = (options) => new SlotPool(options),
): void {
  for (let seed = 1; seed <= count; seed++) {
    try {
      runSchedule(seed, { ...quiet, ...kinds[kind] }, makePool)
    } catch (error) {
      throw new Error(`${kind}: schedule ${seed}`, { cause: error })
    }
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { schedules: { type: 'string', default: '100000' } } })
  const names = Object.keys(kinds)
  for (const kind of names) runSchedules(kind, Math.ceil(Number(values.schedules) / names.length))
  console.log(`measured: ${values.schedules} schedules of ${names.length} kinds hold`)
}
