/**
 * R51: gateways that share a token budget, in a world that is made up: random schedules of calls, lost, repeated and late
 * messages, rows that come late, gateways that die, a limit that changes. Never are more tokens used and in flight than the limit, as
 * calls say what they may use; in the end nothing is held back. `node test/faults/budget-schedules.ts [--schedules 100000]`.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import type { Clock } from '../../src/call/clock.ts'
import { LocalBudget } from '../../src/gateway/admission/local-budget.ts'
import {
  type BudgetAnswer,
  type BudgetMessage,
  SharedBudget,
} from '../../src/gateway/admission/shared-budget.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { seededRandom } from '../support/seeded-random.ts'

interface Holder {
  granted: number
  given: number
  sent: number
  hasLeft: boolean
}

export type BudgetAnswerOfPool = Pick<BudgetAnswer, 'granted' | 'sent' | 'free' | 'block'>

/** What `tokenweir.budget_sync` does in the database (src/share/schema/budget-tables.ts), but for its times. */
export class BudgetPool {
  tokenLimit: number
  used = 0
  readonly holders = new Map<string, Holder>()

  constructor(tokenLimit: number) {
    this.tokenLimit = tokenLimit
  }

  sync(instance: string, message: BudgetMessage): BudgetAnswerOfPool {
    const { granted, given, used, reserved, needs } = message
    const own = this.holders.get(instance) ?? { granted, given, sent: 0, hasLeft: false }
    this.holders.set(instance, own)
    own.granted = Math.max(own.granted, granted, given + used + reserved)
    own.given = Math.max(own.given, given)
    own.hasLeft = false
    for (const [name, other] of this.holders) {
      if (other.hasLeft && other.granted - other.given <= other.sent) this.holders.delete(name)
    }
    const all = [...this.holders.values()]
    const credit = all.reduce((sum, each) => sum + Math.max(0, each.granted - each.given - each.sent), 0)
    let free = this.tokenLimit - this.used - credit
    const left = Math.max(0, free)
    const gateways = Math.max(1, all.filter(({ hasLeft }) => !hasLeft).length)
    const block = Math.min(Math.floor(left / (8 * gateways)), 1_000_000)
    const spare = own.granted - own.given - used - reserved
    let wanted = 0
    for (const need of needs) if (wanted + need <= spare + left) wanted += need
    const after = spare - wanted
    wanted = Math.min(left, (after < Math.floor(block / 2) ? block : 0) - after)
    if (wanted > 0) {
      own.granted += wanted
      free -= wanted
    }
    return { granted: own.granted, sent: own.sent, free, block }
  }

  /** Rows have come of calls that used so much. */
  count(instance: string, tokens: number): void {
    this.used += tokens
    const own = this.holders.get(instance)
    if (own !== undefined) own.sent += tokens
  }

  /** It has ended; what it held is free once all of its rows are there. */
  left(instance: string, isWhole: boolean): void {
    const own = this.holders.get(instance)
    if (own === undefined) return
    own.hasLeft = true
    if (isWhole) this.holders.delete(instance)
  }
}

const beatMs = 500
const steps = 400

/** One gateway: its budget, its calls in flight, and its rows on their way. */
class Gateway {
  readonly budget: SharedBudget
  readonly flying: { readonly tokens: number; readonly hold: Disposable }[] = []
  /** Tokens of calls that wait for an answer. */
  waiting = 0
  rows = 0
  isDead = false

  constructor(clock: Clock, limit: number, link: (message: BudgetMessage) => Promise<BudgetAnswer | null>) {
    const local = new LocalBudget(limit, false)
    const options = { clock, tokenLimit: limit, rejects: true, local, isWhole: () => false }
    this.budget = new SharedBudget({ ...options, link: { syncBudget: link } })
  }

  get inFlight(): number {
    return this.flying.reduce((sum, { tokens }) => sum + tokens, 0)
  }
}

interface Outcome {
  readonly admitted: number
  readonly refused: number
}

/** Plays one schedule. Throws where the limit does not hold. */
export async function playBudget(seed: number, pool: BudgetPool = new BudgetPool(10_000)): Promise<Outcome> {
  const random = seededRandom(seed)
  const upTo = (value: number): number => Math.floor(random() * value)
  const clock = new FakeClock()
  let lost = upTo(3) * 0.1
  const late: (() => void)[] = []
  const gateways: Gateway[] = []
  let names = 0
  let admitted = 0
  let refused = 0
  const limitAtStart = pool.tokenLimit
  const answerOf = (name: string, message: BudgetMessage): BudgetAnswer => ({
    ...pool.sync(name, message),
    tokenLimit: pool.tokenLimit,
    minute: Math.floor(clock.wallTime() / 60_000),
    used: pool.used,
    minutes: [{ minute: Math.floor(clock.wallTime() / 60_000), tokens: pool.used, estimated: 0 }],
  })
  const start = (at: number): void => {
    const name = `gateway ${names++}`
    const gateway = new Gateway(clock, pool.tokenLimit, async (message) => {
      if (gateway.isDead) return null
      const fate = random()
      // It arrives a second time, long after.
      if (fate < lost) late.push(() => void (gateway.isDead || pool.sync(name, message)))
      if (fate < lost / 2) return null
      const answer = answerOf(name, message)
      return random() < lost ? null : answer
    })
    gateways[at] = gateway
    gatewayNames.set(gateway, name)
  }
  const gatewayNames = new Map<Gateway, string>()
  const dead: { readonly name: string; rows: number; readonly inFlight: number }[] = []
  const inUse = (): number =>
    pool.used +
    gateways.reduce((sum, gateway) => sum + gateway.inFlight + gateway.rows, 0) +
    dead.reduce((sum, each) => sum + each.rows, 0)
  for (let at = 0; at < 1 + upTo(5); at++) start(at)
  for (let step = 0; step < steps; step++) {
    const at = upTo(gateways.length)
    const gateway = gateways[at]!
    const what = random()
    if (what < 0.5) {
      const tokens = 1 + upTo(random() < 0.1 ? 3000 : 300)
      const enter = (hold: Disposable): void => {
        admitted++
        if (gateway.isDead) hold[Symbol.dispose]()
        else gateway.flying.push({ tokens, hold })
        assert.ok(inUse() <= limitAtStart, `seed ${seed}: ${inUse()} of ${limitAtStart} tokens`)
      }
      try {
        const hold = gateway.budget.reserve(clock.wallTime(), tokens)
        if (hold instanceof Promise) {
          gateway.waiting++
          hold
            .then(enter, () => refused++)
            .finally(() => gateway.waiting--)
            .catch(() => {})
        } else if (hold !== null) enter(hold)
      } catch {
        refused++
      }
    } else if (what < 0.75) {
      const [call] = gateway.flying.splice(upTo(gateway.flying.length), 1)
      if (call !== undefined) {
        const used = upTo(call.tokens + 1)
        gateway.rows += used
        gateway.budget.add(clock.wallTime(), used, 0)
        call.hold[Symbol.dispose]()
      }
    } else if (what < 0.9) {
      const tokens = upTo(gateway.rows + 1)
      gateway.rows -= tokens
      pool.count(gatewayNames.get(gateway)!, tokens)
    } else if (what < 0.93) late.splice(upTo(late.length), 1)[0]?.()
    else if (what < 0.95) {
      // It dies: what was in flight comes as rows in the end, and only then may what it held be given to others.
      gateway.isDead = true
      const name = gatewayNames.get(gateway)!
      dead.push({ name, rows: gateway.rows + gateway.inFlight, inFlight: gateway.inFlight })
      pool.left(name, false)
      start(at)
    } else if (what < 0.97) {
      const [gone] = dead.splice(0, 1)
      if (gone !== undefined) {
        pool.count(gone.name, gone.rows)
        pool.left(gone.name, true)
      }
    } else clock.tick(beatMs)
    await settled()
    assert.ok(inUse() <= limitAtStart, `seed ${seed}: ${inUse()} of ${limitAtStart} tokens`)
  }
  for (const gateway of gateways) assert.equal(gateway.waiting, 0, `seed ${seed}: a call waits for ever`)

  // All is well again, and all calls are over: half of what is left is there for whoever asks.
  lost = 0
  for (const { name, rows } of dead) {
    pool.count(name, rows)
    pool.left(name, true)
  }
  for (const gateway of gateways) {
    for (const { hold } of gateway.flying.splice(0)) hold[Symbol.dispose]()
    pool.count(gatewayNames.get(gateway)!, gateway.rows)
    gateway.rows = 0
  }
  for (let beat = 0; beat < 10; beat++) {
    clock.tick(beatMs)
    await settled()
  }
  const half = Math.floor((pool.tokenLimit - pool.used) / 2)
  if (half > 0) {
    const last = gateways[upTo(gateways.length)]!
    const hold = await last.budget.reserve(clock.wallTime(), half)
    assert.ok(hold !== null, `seed ${seed}: ${half} tokens`)
    assert.equal(last.budget.snapshot(clock.wallTime()).totalUsed, pool.used)
  }
  return { admitted, refused }
}

/** All that is due has run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve()
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { schedules: { type: 'string', default: '100000' } } })
  const schedules = Number(values.schedules)
  let admitted = 0
  let refused = 0
  for (let seed = 1; seed <= schedules; seed++) {
    const outcome = await playBudget(seed)
    admitted += outcome.admitted
    refused += outcome.refused
  }
  console.log(`measured: ${schedules} schedules, ${admitted} calls let in, ${refused} refused, never over`)
}
