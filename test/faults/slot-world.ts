/** Gateways that share one pool of slots, in a world that is made up: its time, its messages, and who is at the upstream. */
import assert from 'node:assert/strict'
import {
  SlotHolderProtocol,
  type SlotAnswer,
  type SlotSync,
  mostAges,
} from '../../src/gateway/admission/slot-holder-protocol.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { SlotPool, SlotPoolOptions } from '../support/slot-pool.ts'

export const leaseMs = 10_000
const heartbeatMs = 1000
const waitingHeartbeatMs = 100

/** What goes wrong in a schedule. */
export interface Faults {
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
export class World {
  nowMs = 0
  readonly random: () => number
  readonly max: number
  readonly faults: Faults
  readonly upstream = new Set<Call>()
  readonly gateways: Gateway[] = []
  pool: SlotPool
  readonly #events: { readonly atMs: number; readonly order: number; readonly run: () => void }[] = []
  #order = 0
  #stateCount = 1
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
    this.pool = makePool({ max, leaseMs, poolId: '1', nowMs: 0 })
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
    this.#stateCount++
    this.pool = this.#makePool({
      max: this.max,
      leaseMs,
      poolId: String(this.#stateCount),
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
export class Gateway {
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
    return this.#slots.slots
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
    const sent = { ...this.#clocks(), joinCount: this.#slots.joinCount }
    const clocks = { ...sent, suspendedMs: this.#suspendedMs, wallOffMs: this.#wallOffMs }
    const { idle } = this.#slots
    const { nowMs } = this.#world
    const message = this.#slots.message(
      this.waiting.slice(idle, idle + mostAges).map((sinceMs) => nowMs - sinceMs),
    )
    this.#world.send(this, message, (answer) => {
      if (this.#slots.applyAnswer(answer, sent)) {
        this.sync()
        return
      }
      if (clocks.monotonicMs > this.#heard.monotonicMs) this.#heard = clocks
      this.#admit()
      if (this.#slots.contended && this.#slots.returnIdle()) this.sync()
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
    else if (nowMs - this.#idleSinceMs >= 1000) this.#slots.returnIdle()
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
          if (isWanted) this.#slots.returnSlot()
          this.#admit()
          if (isWanted) this.sync()
        })
      })
    }
  }
}
