import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { GrantedSlots, type SlotGrant, type SlotReport, SlotShares } from './slot-shares.ts'

/** A gateway with calls: how many are in flight, how many wait, and how many slots it may use. */
class Calls {
  active = 0
  queued = 0

  admit(slots: number): void {
    while (this.queued > 0 && this.active < slots) {
      this.queued -= 1
      this.active += 1
    }
  }
}

/** A gateway that finishes its calls; what it says and is told is on its way until it is delivered. */
class FormerModel {
  readonly calls = new Calls()
  readonly granted: GrantedSlots
  readonly reports: SlotReport[] = []
  readonly grants: SlotGrant[] = []

  constructor(slots: number, queued: number) {
    this.granted = new GrantedSlots(slots)
    this.calls.queued = queued
    this.calls.admit(slots)
    this.tell()
  }

  tell(): void {
    this.reports.push(this.granted.report(this.calls.active, this.calls.queued))
  }

  /** One grant arrives. */
  obey(): void {
    const grant = this.grants.shift()
    if (grant === undefined) return
    this.granted.granted(grant.seq, grant.slots)
    this.changed()
  }

  changed(): void {
    this.calls.admit(this.granted.slots)
    this.tell()
  }
}

class Model {
  readonly max: number
  readonly shares: SlotShares
  readonly own = new Calls()
  readonly formers: readonly FormerModel[]

  constructor(max: number, formers: readonly (readonly [slots: number, queued: number])[]) {
    this.max = max
    this.shares = new SlotShares(max)
    let left = max
    this.formers = formers.map(([slots, queued], at) => {
      const claim = Math.min(slots, left)
      left -= claim
      this.shares.reserve(String(at), claim)
      return new FormerModel(claim, queued)
    })
  }

  get active(): number {
    return this.formers.reduce((sum, { calls }) => sum + calls.active, this.own.active)
  }

  get wanted(): number {
    return this.formers.reduce(
      (sum, { calls }) => sum + calls.active + calls.queued,
      this.own.active + this.own.queued,
    )
  }

  /** One report arrives at the newest. */
  hear(at: number): void {
    const report = this.formers[at]?.reports.shift()
    if (report !== undefined) this.shares.report(String(at), report)
    this.share()
  }

  share(): void {
    this.own.admit(Math.max(0, this.max - this.shares.lent))
    for (const grant of this.shares.grants(this.own.active)) {
      this.formers[Number(grant.holder)]?.grants.push(grant)
    }
  }

  /** Everything that is on its way arrives, until nothing more is said. */
  settle(): void {
    let last = ''
    for (;;) {
      for (const [at, former] of this.formers.entries()) {
        while (former.reports.length > 0) this.hear(at)
        while (former.grants.length > 0) former.obey()
      }
      const now = JSON.stringify([this.own, this.formers])
      if (now === last) return
      last = now
    }
  }
}

const what = fc.constantFrom('arrives', 'ends', 'hears', 'obeys')
const steps = fc.array(fc.tuple(what, fc.nat(3)), { size: 'max', maxLength: 200 })
const claims = fc.array(fc.tuple(fc.nat(8), fc.nat(12)), { maxLength: 3 })

test('however what is said is delayed, all together never use more slots than there are, and none stays idle', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), claims, steps, (max, formers, all) => {
      const model = new Model(max, formers)
      for (const [step, who] of all) {
        const former = model.formers[who - 1]
        const { calls } = former ?? { calls: model.own }
        if (step === 'arrives') calls.queued += 1
        else if (step === 'ends') calls.active = Math.max(0, calls.active - 1)
        else if (step === 'hears') model.hear(who - 1)
        else former?.obey()
        if (former === undefined) model.share()
        else former.changed()
        assert.ok(model.active <= max, `${model.active} of ${max}`)
      }
      model.settle()
      assert.ok(model.active <= max)
      assert.equal(model.active, Math.min(max, model.wanted))
    }),
  )
})

const report = (parts: Partial<SlotReport>): SlotReport => ({
  seq: 0,
  slots: 0,
  active: 0,
  wanted: 0,
  ...parts,
})

test('what is reserved is lent until its holder reports, and its wishes go before ours', () => {
  const shares = new SlotShares(10)
  shares.reserve('old', 10)
  assert.equal(shares.lent, 10)
  shares.report('old', report({ slots: 3, active: 3, wanted: 3 }))
  assert.equal(shares.lent, 3)
  shares.report('old', report({ slots: 3, active: 3, wanted: 7 }))
  assert.equal(shares.lent, 7)
  assert.deepEqual(shares.grants(6), [{ holder: 'old', seq: 1, slots: 4 }])
  assert.deepEqual(shares.grants(6), [])
  shares.leave('old')
  assert.equal(shares.lent, 0)
})

test('a smaller number of slots is taken back from a holder, and counts until its calls have ended', () => {
  const shares = new SlotShares(10)
  shares.report('old', report({ slots: 8, active: 8, wanted: 9 }))
  shares.setMax(5)
  assert.deepEqual(shares.grants(0), [{ holder: 'old', seq: 1, slots: 5 }])
  // This was said before it could know.
  shares.report('old', report({ slots: 7, active: 7, wanted: 8 }))
  assert.equal(shares.reserved, 8)
  shares.report('old', report({ seq: 1, slots: 5, active: 7, wanted: 8 }))
  assert.equal(shares.reserved, 7)
  assert.deepEqual(shares.grants(0), [])
  shares.report('old', report({ seq: 1, slots: 4, active: 4, wanted: 4 }))
  assert.equal(shares.lent, 4)
})

test('a holder that comes back on a new connection is counted from 0 again, and keeps what it had', () => {
  const shares = new SlotShares(4)
  shares.report('old', report({ slots: 1, active: 1, wanted: 2 }))
  assert.deepEqual(shares.grants(0), [{ holder: 'old', seq: 1, slots: 2 }])
  shares.join('old')
  assert.equal(shares.reserved, 2)
  shares.report('old', report({ slots: 1, active: 1, wanted: 1 }))
  assert.equal(shares.reserved, 1)
})
