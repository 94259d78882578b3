/**
 * R49: gateways that share one pool of slots, in a world that is made up: random schedules of calls, lost, repeated and late
 * messages, pauses, suspends, clocks that are set, gateways that are cut off or die, a pool that freezes or loses its state. Never are
 * more calls at the upstream than there are slots, but by those whose holder the pool had to give up; and in the end all are served.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import {
  SlotHolderProtocol,
  type SlotAnswer,
  type SlotSync,
  mostAges,
} from '../../src/gateway/admission/slot-holder-protocol.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { SlotPool, type SlotPoolOptions } from '../support/slot-pool.ts'

const leaseMs = 10_000
/** For all to be served once nothing goes wrong any more. */
const mostLeases = 60
const heartbeatMs = 1000
const waitingHeartbeatMs = 100
/** What goes wrong in a schedule. */
interface Faults {
  /** Share of messages that are lost, and that come twice. */
  readonly lost: number
  readonly twice: number
  readonly delayMs: number
  /** Share that takes up to three leases. */
  readonly late: number
  readonly pauses: boolean
  readonly cuts: boolean
  readonly deaths: boolean
  readonly freezes: boolean
  readonly resets: boolean
}

interface Call {
  readonly holder: string
  /** The pool has stopped counting it while it ran, as its table says. */
  excused: boolean
}

/** Makes the pool of a world, at its beginning and whenever its state is lost. */
export type MakePool = (options: SlotPoolOptions) => SlotPool

/** True time, events in their order, and who is at the upstream. */
class World {
  nowMs = 0
  readonly random: () => number
  readonly max: number
  readonly faults: Faults
  readonly upstream = new Set<Call>()
  readonly gateways: Gateway[] = []
  pool: SlotPool
  readonly #events: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = []
  #order = 0
  #epoch = 1
  /** Everybody who ever joined and has not left: the pool keeps this list through a reset. */
  readonly #members = new Set<string>()
  readonly #makePool: MakePool
  /** The pool answers nobody before. */
  #frozenUntilMs = 0
  #learning = false

  constructor(seed: number, max: number, gateways: number, faults: Faults, makePool: MakePool) {
    this.#makePool = makePool
    this.random = seededRandom(seed)
    this.max = max
    this.faults = faults
    this.pool = makePool({ max, leaseMs, epoch: '1', nowMs: 0 })
    for (let at = 0; at < gateways; at++) this.gateways.push(new Gateway(this, `gateway ${at}`))
  }

  at(atMs: number, run: () => void): void {
    this.#events.push({ atMs, order: this.#order++, run })
  }

  /** Runs what is due until then. */
  run(untilMs: number): void {
    for (;;) {
      let next = -1
      for (const [at, { atMs, order }] of this.#events.entries()) {
        const best = this.#events[next]
        if (best === undefined || atMs < best.atMs || (atMs === best.atMs && order < best.order)) next = at
      }
      const event = this.#events[next]
      if (event === undefined || event.atMs > untilMs) break
      this.#events[next] = this.#events.at(-1)!
      this.#events.pop()
      this.nowMs = Math.max(this.nowMs, event.atMs)
      event.run()
    }
    this.nowMs = untilMs
  }

  chance(share: number): boolean {
    return this.random() < share
  }

  upTo(value: number): number {
    return this.random() * value
  }

  starts(call: Call): void {
    this.upstream.add(call)
    const counted = [...this.upstream].filter(({ excused }) => !excused).length
    assert.ok(counted <= this.max, `${counted} calls of ${this.max} at the upstream`)
  }

  /** A message on its way to the pool, and the answer on its way back. */
  send(from: Gateway, message: SlotSync, answered: (answer: SlotAnswer) => void): void {
    const { lost, twice } = this.faults
    for (const _ of this.chance(twice) ? [1, 2] : [1]) {
      if (this.chance(lost) || from.isCutOff) continue
      this.at(this.nowMs + this.#delayMs(), () => {
        this.#atPool(() => {
          const answer = this.#changed(() => this.pool.sync(message, this.nowMs))
          if (answer.known) this.#members.add(message.holder)
          this.#wake()
          if (this.chance(lost) || from.isCutOff) return
          this.at(this.nowMs + this.#delayMs(), () => from.hears(() => answered(answer)))
        })
      })
    }
  }

  #delayMs(): number {
    const { late, delayMs } = this.faults
    return this.upTo(this.chance(late) ? 3 * leaseMs : delayMs)
  }

  endLeases(): void {
    this.#changed(() => this.pool.endLeases(this.nowMs))
  }

  freeze(forMs: number): void {
    this.#frozenUntilMs = this.nowMs + forMs
  }

  /** The pool loses its state, and keeps the list of its members. */
  reset(): void {
    this.#epoch++
    this.pool = this.#makePool({
      max: this.max,
      leaseMs,
      epoch: String(this.#epoch),
      expected: this.#members,
      nowMs: this.nowMs,
    })
    this.#learning = true
  }

  /** A sibling on the same machine has seen that it is dead. */
  isDead(holder: string): void {
    this.#atPool(() => {
      this.#members.delete(holder)
      this.#changed(() => this.pool.leave(holder, this.nowMs))
    })
  }

  #atPool(run: () => void): void {
    if (this.nowMs >= this.#frozenUntilMs) run()
    else this.at(this.#frozenUntilMs, () => this.#atPool(run))
  }

  /** Who is no longer counted after this is over the limit by the calls that it still has, and by no others. */
  #changed<Result>(change: () => Result): Result {
    const known = this.gateways.filter(({ name }) => this.pool.knows(name))
    const result = change()
    const hasLearnt = this.#learning && !this.pool.isLearning(this.nowMs)
    if (hasLearnt) this.#learning = false
    for (const { name } of hasLearnt ? this.gateways : known) {
      if (this.pool.knows(name)) continue
      for (const call of this.upstream) if (call.holder === name) call.excused = true
    }
    return result
  }

  /** Those for whom something has changed hear of it, where the message arrives. */
  #wake(): void {
    for (const name of this.pool.news()) {
      const gateway = this.gateways.find((one) => one.name === name)
      if (gateway === undefined || gateway.isCutOff || this.chance(this.faults.lost)) continue
      this.at(this.nowMs + this.upTo(this.faults.delayMs), () => gateway.hears(() => gateway.sync()))
    }
  }
}

/** A gateway whose calls come and end by chance. */
class Gateway {
  readonly name: string
  readonly waiting: number[] = []
  isDead = false
  isCutOff = false
  served = 0
  active = 0
  readonly #world: World
  readonly #slots: SlotHolderProtocol
  #pausedUntilMs = 0
  /** Time that its monotonic clock has not counted. */
  #suspendedMs = 0
  /** Its wall clock against true time. */
  #wallOffMs = 0
  /** As its clocks were when it sent the last message that was answered. */
  #heard = { monotonicMs: 0, suspendedMs: 0, wallOffMs: 0 }
  #idleSinceMs: number | null = null

  constructor(world: World, name: string) {
    this.#world = world
    this.name = name
    this.#slots = new SlotHolderProtocol({ holder: name, leaseMs, inUse: () => this.active })
    world.at(world.upTo(500), () => this.hears(() => this.#beat()))
  }

  get held(): number {
    return this.#slots.held
  }

  /** Whatever happens to it happens when it runs. */
  hears(run: () => void): void {
    if (this.isDead) return
    if (this.#world.nowMs >= this.#pausedUntilMs) run()
    else this.#world.at(this.#pausedUntilMs, () => this.hears(run))
  }

  arrives(durationMs: number): void {
    this.hears(() => {
      this.waiting.push(this.#world.nowMs)
      this.#durations.push(durationMs)
      const before = this.waiting.length
      this.#admit()
      if (this.waiting.length === before) this.sync()
    })
  }
  readonly #durations: number[] = []

  pause(forMs: number, isSuspend: boolean): void {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.#world.nowMs + forMs)
    if (isSuspend) this.#suspendedMs += forMs
  }

  setWallClock(byMs: number): void {
    this.#wallOffMs += byMs
  }

  dies(): void {
    this.isDead = true
    const world = this.#world
    const upstreamEnds = world.chance(0.5)
    if (!upstreamEnds) return
    for (const call of world.upstream) if (call.holder === this.name) world.upstream.delete(call)
    if (world.chance(0.7)) world.at(world.nowMs + world.upTo(2000), () => world.isDead(this.name))
  }

  sync(): void {
    const sent = { ...this.#clocks(), life: this.#slots.life }
    const clocks = { ...sent, suspendedMs: this.#suspendedMs, wallOffMs: this.#wallOffMs }
    const { idle } = this.#slots
    const { nowMs } = this.#world
    const message = this.#slots.message(
      this.waiting.slice(idle, idle + mostAges).map((sinceMs) => nowMs - sinceMs),
    )
    this.#world.send(this, message, (answer) => {
      if (this.#slots.answered(answer, sent)) {
        this.sync()
        return
      }
      if (clocks.monotonicMs > this.#heard.monotonicMs) this.#heard = clocks
      this.#admit()
      if (this.#slots.contended && this.#slots.giveIdle()) this.sync()
    })
  }

  #clocks() {
    const { nowMs } = this.#world
    return { monotonicMs: nowMs - this.#suspendedMs, wallMs: nowMs + this.#wallOffMs }
  }

  /** It was suspended and its wall clock set back since it was heard: by no clock of its own its lease is over. */
  #isMisled(): boolean {
    const { suspendedMs, wallOffMs } = this.#heard
    const isBlind = this.#suspendedMs > suspendedMs && this.#wallOffMs < wallOffMs
    return isBlind && !this.#world.pool.knows(this.name)
  }

  #beat(): void {
    const { nowMs } = this.#world
    if (this.#slots.idle === 0) this.#idleSinceMs = null
    else if (this.#idleSinceMs === null) this.#idleSinceMs = nowMs
    else if (nowMs - this.#idleSinceMs >= 1000) this.#slots.giveIdle()
    this.#admit()
    this.sync()
    const nextMs = this.waiting.length > 0 ? waitingHeartbeatMs : heartbeatMs
    this.#world.at(nowMs + nextMs, () => this.hears(() => this.#beat()))
  }

  #admit(): void {
    while (this.waiting.length > 0 && this.#slots.idle > 0 && this.#slots.leaseIsValid(this.#clocks())) {
      this.active++
      this.waiting.shift()
      this.served++
      const call: Call = { holder: this.name, excused: this.#isMisled() }
      this.#world.starts(call)
      const endsMs = this.#world.nowMs + (this.#durations.shift() ?? 0)
      this.#world.at(endsMs, () => {
        this.#world.upstream.delete(call)
        this.hears(() => {
          this.active--
          const { nowMs } = this.#world
          const age = nowMs - (this.waiting[this.#slots.idle - 1] ?? nowMs)
          const isWanted = !this.#slots.mayKeepFor(age, this.#clocks())
          if (isWanted) this.#slots.give()
          this.#admit()
          if (isWanted) this.sync()
        })
      })
    }
  }
}

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
