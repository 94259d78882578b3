import type { DrainAnswer, DrainReport } from '../../src/control/control-messages.ts'
import { isDrainAnswer, isDrainReport } from '../../src/control/control-messages.ts'
import { ownIdentity } from '../../src/lib/process/process-identity.ts'
import { MinuteLimits } from '../../src/gateway/limits/minute-limits.ts'
import { LimitsAcrossRestarts } from '../../src/gateway/limits/limits-across-restarts.ts'
import { SlotLimiter } from '../../src/gateway/admission/slot-limiter.ts'
import type { TokenWindow } from '../../src/gateway/admission/token-window.ts'
import { TokenWindows } from '../../src/gateway/admission/token-windows.ts'
import { DrainReporter } from '../../src/gateway/handover/drain-reporter.ts'
import { OldGateways, type SharedParts } from '../../src/gateway/handover/old-gateways.ts'
import type { Handover } from '../../src/gateway/handover/handover.ts'
import type { FakeClock } from './fake-clock.ts'

const latencyMs = 1

/** Gateways of one machine that replace each other, with messages that take a millisecond. */
export class Chain {
  readonly clock: FakeClock
  readonly gateways: GatewayOfAChain[] = []
  readonly #options: ChainOptions

  constructor(clock: FakeClock, options: ChainOptions = {}) {
    this.clock = clock
    this.#options = options
    this.#add()
  }

  /** To which reports go; null if it was killed. */
  newest: GatewayOfAChain | null = null

  get(at: number): GatewayOfAChain {
    const gateway = this.gateways.at(at)
    if (gateway === undefined) throw new RangeError(`there is no gateway ${at}`)
    return gateway
  }

  /** The newest one hands over. */
  restart(maxConcurrent?: number): GatewayOfAChain {
    const before = this.newest
    const next = this.#add(maxConcurrent)
    before?.drain(this)
    return next
  }

  /** A gateway that was not told of any before it. */
  startAnew(): GatewayOfAChain {
    this.newest = null
    return this.#add()
  }

  async reportDraining(report: DrainReport): Promise<DrainAnswer | 'notRunning'> {
    await this.clock.delay(latencyMs)
    const answer = this.newest?.oldGateways.addReport(passed(report, isDrainReport)) ?? null
    await this.clock.delay(latencyMs)
    if (this.newest === null) return 'notRunning'
    if (answer === null) throw new Error('refused')
    return passed(answer, isDrainAnswer)
  }

  #add(maxConcurrent = this.#options.maxConcurrent ?? 4): GatewayOfAChain {
    const gateway = new GatewayOfAChain(this, { ...this.#options, maxConcurrent }, this.newest)
    this.gateways.push(gateway)
    this.newest = gateway
    return gateway
  }
}

export interface ChainOptions {
  readonly maxConcurrent?: number
  readonly slotCooldownMs?: number
  readonly budgetRejects?: boolean
}

/** With a budget of 1000 tokens. */
export class GatewayOfAChain {
  readonly admission: SlotLimiter
  readonly budget: TokenWindow
  readonly oldGateways: OldGateways
  draining: DrainReporter | null = null
  readonly #parts: SharedParts

  constructor(chain: Chain, options: ChainOptions, before: GatewayOfAChain | null) {
    const { maxConcurrent = 4, slotCooldownMs = 0, budgetRejects = false } = options
    const { clock } = chain
    const instance = `gateway ${chain.gateways.length}`
    this.admission = new SlotLimiter({
      clock,
      maxConcurrent,
      slotCooldownMs,
      queueLimit: 1000,
      queueTimeoutMs: 0,
    })
    const tokens = new TokenWindows({
      clock,
      rejects: budgetRejects,
      tokenLimit: 1000,
      sharedLimit: null,
      past: { usageByMinute: async () => [], usageOfClients: async () => [] },
      keyNames: () => new Map(),
    })
    this.budget = tokens.all
    const limiter = { name: 'default', admission: this.admission, isShared: false }
    const nobody = new Set<object>()
    const minuteLimits = new MinuteLimits(() => clock.now(), false)
    const minutes = new LimitsAcrossRestarts(
      minuteLimits,
      () => clock.now(),
      () => nobody,
    )
    const limiters = () => [limiter]
    this.#parts = { instance, limiters, tokens, minutes, clock }
    this.oldGateways = new OldGateways(this.#parts, before?.handover() ?? null)
    this.budget.restore(before?.budget.minutes(clock.wallTime()) ?? [])
    this.budget.watch({
      added: (usage) => this.draining?.used(usage),
      reserved: () => this.draining?.changed(),
    })
  }

  get calls(): number {
    const { active, queued } = this.admission.snapshot()
    return active + queued
  }

  handover(): Handover {
    const { instance } = this.#parts
    const none = { host: '', port: 0, used: [], usedSinceMs: null, usedByOwners: [], minutes: [] }
    const rawLog = { enabled: false, untilMs: null, asked: false }
    const { reserved } = this.budget
    return {
      instance,
      identity: ownIdentity(),
      reserved,
      predecessors: this.oldGateways.claims(),
      rawLog,
      ...none,
    }
  }

  drain(chain: Chain): void {
    this.oldGateways.stopReceiving()
    const none = { onStop: () => {}, onRawLog: () => {} }
    const onAsk = (cancel: string | null) => ({ live: { calls: [], more: 0 }, cancelled: cancel !== null })
    this.draining = new DrainReporter({ ...this.#parts, ...none, onAsk, successor: chain }, [])
  }
}

/** As it comes out at the other end. */
function passed<T>(message: T, isMessage: (value: unknown) => value is T): T {
  const value: unknown = JSON.parse(JSON.stringify(message))
  if (!isMessage(value)) throw new TypeError(`no message: ${JSON.stringify(message)}`)
  return value
}
