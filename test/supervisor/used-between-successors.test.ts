/** What a draining gateway's calls used is counted once, also where its successor is itself replaced just then. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ControlServer, openControl } from '../../src/control/control-server.ts'
import type { DrainListener, DrainOrder } from '../../src/control/control-messages.ts'
import type { TokenWindow } from '../../src/gateway/admission/token-window.ts'
import { Draining } from '../../src/gateway/handover/draining.ts'
import { Predecessors } from '../../src/gateway/handover/predecessors.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { gatewayOfAChain } from '../support/gateway-of-a-chain.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { eventually } from '../support/eventually.ts'
import { FakeGateway } from './fake-gateway.ts'

/** Until a gateway that drains has its place in a successor's pool of slots, and both are quiet. */
const reportsToJoin = 2

test('what a successor did not take any more is told to the next one', async () => {
  await using place = await makePlace()
  await using first = await place.successor('first')
  const draining = place.drain()
  await eventually('the report', () => first.reports === reportsToJoin)
  first.holdsOrders = true
  first.predecessors.sendOn()
  await first.close()
  place.use(draining, 30)
  await eventually('the report to the old one', () => first.reports > reportsToJoin)
  await using second = await place.successor('second')
  first.letOrdersGo()
  await eventually('the report to the new one', () => second.used() > 0)
  await place.close(draining)
  assert.deepEqual([first.used(), second.used()], [0, 30])
})

test('its end waits for the next successor to be found', async () => {
  await using place = await makePlace()
  await using first = await place.successor('first')
  const draining = place.drain()
  await eventually('the report', () => first.reports === reportsToJoin)
  await first.close()
  first.predecessors.sendOn()
  await eventually('it to look for the next one', () => first.hasBeenLeft)
  place.use(draining, 30)
  const closed = place.close(draining)
  await using second = await place.successor('second')
  await closed
  assert.deepEqual([first.used(), second.used()], [0, 30])
})

/** Takes reports, as a gateway that has replaced another does. */
class Successor extends FakeGateway {
  readonly predecessors: Predecessors
  readonly #budget: TokenWindow
  readonly #clock: FakeClock
  readonly #held: (() => void)[] = []
  #control: ControlServer | null = null
  /** Orders do not arrive until they are let go. */
  holdsOrders = false
  reports = 0
  hasBeenLeft = false

  constructor(instance: string, clock: FakeClock) {
    super(instance)
    const parts = gatewayOfAChain(instance, clock, false)
    this.predecessors = new Predecessors(parts, () => [{ name: '', ...parts }])
    this.#budget = parts.budget
    this.#clock = clock
  }

  async open(folder: string): Promise<void> {
    this.#control = await openControl({ folder, gateway: this })
  }

  /** Those who report now still do; nobody else finds it. */
  async close(): Promise<void> {
    await this.#control?.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  letOrdersGo(): void {
    for (const go of this.#held.splice(0)) go()
  }

  used(): number {
    return this.#budget.snapshot(this.#clock.wallTime()).totalUsed
  }

  override readonly draining = (tell: (order: DrainOrder) => void): DrainListener => {
    const listener = this.predecessors.listen((order) => {
      if (this.holdsOrders) this.#held.push(() => tell(order))
      else tell(order)
    })
    return {
      ...listener,
      report: (report) => {
        this.reports++
        listener.report(report)
      },
      ended: () => {
        this.hasBeenLeft = true
        listener.ended()
      },
    }
  }
}

interface Place extends AsyncDisposable {
  successor: (instance: string) => Promise<Successor>
  drain: () => Draining
  use: (draining: Draining, tokens: number) => void
  close: (draining: Draining) => Promise<void>
}

async function makePlace(): Promise<Place> {
  const clock = new FakeClock()
  const dir = await makeTempDir()
  const drained: Draining[] = []
  const successor = async (instance: string): Promise<Successor> => {
    const made = new Successor(instance, clock)
    await made.open(dir.path)
    return made
  }
  const drain = (): Draining => {
    const { slots, ...parts } = gatewayOfAChain('old', clock, false)
    const none = { onStop: () => {}, onRawLog: () => {}, upstreams: () => [] }
    const onAsk = async () => ({ live: { calls: [], more: 0 }, cancelled: false })
    const draining = new Draining({ ...parts, ...none, onAsk, folder: dir.path }, slots, [], [])
    drained.push(draining)
    return draining
  }
  const use = (draining: Draining, tokens: number): void => {
    draining.used({ minute: Math.floor(clock.wallTime() / 60_000), tokens })
    clock.tick(20)
  }
  /** Time passes while it looks for somebody to tell. */
  const close = async (draining: Draining): Promise<void> => {
    let isClosed = false
    const closed = draining.close().then(() => (isClosed = true))
    await eventually('it to close', () => {
      clock.tick(5)
      return isClosed
    })
    await closed
  }
  const dispose = async (): Promise<void> => {
    await Promise.all(drained.map(close))
    await dir[Symbol.asyncDispose]()
  }
  return { successor, drain, use, close, [Symbol.asyncDispose]: dispose }
}
