import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SlotAnswer, SlotSync } from '../../src/gateway/admission/slot-holder-protocol.ts'
import { type PostgresConnection, connect } from '../../src/share/postgres.ts'
import { makeSharedSchema } from '../../src/share/schema/shared-schema.ts'
import { kinds, runSchedules } from '../faults/slot-schedules.ts'
import { startPostgres } from '../support/postgres.ts'
import { SlotPool, type SlotPoolOptions } from '../support/slot-pool.ts'

/** What was asked of a pool, and what came of it. */
type Step =
  | { readonly made: SlotPoolOptions; readonly expected: readonly string[] }
  | { readonly sync: SlotSync; readonly nowMs: number; readonly answer: SlotAnswer; readonly held: number }
  | { readonly ended: number; readonly held: number }
  | { readonly left: string; readonly nowMs: number; readonly held: number }
  | { readonly woken: readonly string[] }

class RecordedPool extends SlotPool {
  readonly #steps: Step[]

  constructor(options: SlotPoolOptions, steps: Step[]) {
    super(options)
    this.#steps = steps
    steps.push({ made: options, expected: [...(options.expected ?? [])] })
  }

  override sync(sync: SlotSync, nowMs: number): SlotAnswer {
    const answer = this.#alone(() => super.sync(sync, nowMs))
    this.#steps.push({ sync, nowMs, answer, held: this.held })
    return answer
  }

  override endLeases(nowMs: number): void {
    super.endLeases(nowMs)
    if (!this.#isInside) this.#steps.push({ ended: nowMs, held: this.held })
  }

  override leave(left: string, nowMs: number): void {
    super.leave(left, nowMs)
    this.#steps.push({ left, nowMs, held: this.held })
  }

  override news(): readonly string[] {
    const woken = super.news()
    this.#steps.push({ woken: [...woken].sort() })
    return woken
  }

  #isInside = false
  #alone<Result>(run: () => Result): Result {
    this.#isInside = true
    const result = run()
    this.#isInside = false
    return result
  }
}

const leaseMs = 10_000
const gateways = 6

/** Asks the functions in the database what was asked of the pool. Throws where they differ. */
async function follow(connection: PostgresConnection, steps: readonly Step[]): Promise<number> {
  const poolIds = new Map<string, string>()
  const one = async (sql: string, ...values: readonly unknown[]) =>
    (await connection.query(sql, values))[0] ?? []
  const heldNow = async (): Promise<number> =>
    Number(
      (await one('SELECT coalesce(sum(granted_total - returned_total), 0) FROM tokenweir.slot_holders'))[0],
    )
  let woken: unknown = []
  let asked = 0
  for (const [at, step] of steps.entries()) {
    const where = `step ${at}: ${JSON.stringify(step)}`
    if ('made' in step) {
      const { max, poolId, nowMs } = step.made
      if (nowMs === 0) {
        await one('DELETE FROM tokenweir.gateways')
        await one('DELETE FROM tokenweir.settings')
        await one('INSERT INTO tokenweir.settings VALUES (1, $1, 1, false)', max)
        await one(
          `INSERT INTO tokenweir.gateways (instance, number, folder, host, pid, version, asked_concurrent, lease_ms, left_at)
            SELECT 'gateway ' || n, n, 'folder ' || n, 'host', 1, '', 1, $1, now() FROM generate_series(0, $2 - 1) AS n`,
          leaseMs,
          gateways,
        )
      }
      // Lost state is found out by the name of the engine's run.
      await one("UPDATE tokenweir.slot_state SET engine = 'another'")
      const [name] = await one('SELECT tokenweir.slots_open($1)', nowMs)
      poolIds.set(poolId, String(name))
      const expected = await connection.query('SELECT holder FROM tokenweir.slot_expected ORDER BY 1')
      assert.deepEqual(expected.flat(), step.expected.toSorted(), where)
    } else if ('sync' in step) {
      const { holder, poolId, joinCount, usedAtJoin, returnedTotal, grantedTotal, ages } = step.sync
      const [known, name, total, contended, told, elsewhereMs] = await one(
        'SELECT * FROM tokenweir.slots_sync_at($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0)',
        step.nowMs,
        holder,
        poolId === null ? null : poolIds.get(poolId),
        joinCount,
        usedAtJoin,
        returnedTotal,
        grantedTotal,
        ages,
        leaseMs,
      )
      const answer =
        known === true ? { known, grantedTotal: total, contended, elsewhereMs } : { known, poolId: name }
      const { answer: expected } = step
      const isSame = expected.known ? expected : { known: false, poolId: poolIds.get(expected.poolId) }
      assert.deepEqual(answer, isSame, where)
      assert.equal(await heldNow(), step.held, where)
      woken = told
      asked++
    } else if ('woken' in step) assert.deepEqual((woken as string[]).toSorted(), step.woken, where)
    else if ('left' in step) {
      await one('UPDATE tokenweir.gateways SET left_at = now() WHERE instance = $1', step.left)
      await one('SELECT tokenweir.slots_leave($1, $2)', step.nowMs, step.left)
      assert.equal(await heldNow(), step.held, where)
    } else {
      await one('SELECT tokenweir.slots_end_leases($1)', step.ended)
      assert.equal(await heldNow(), step.held, where)
    }
  }
  return asked
}

test('the functions in the database answer as the machine does, whatever goes wrong', async (t) => {
  await using postgres = await startPostgres()
  const connection = await connect(await postgres.database('in_step'), {
    applicationName: 'test',
    statementTimeoutMs: 20_000,
  })
  try {
    await makeSharedSchema(connection)
    for (const kind of Object.keys(kinds)) {
      await t.test(kind, async () => {
        const schedules: Step[][] = []
        let steps: Step[] = []
        runSchedules(kind, 2, (options) => {
          if (options.nowMs === 0) schedules.push((steps = []))
          return new RecordedPool(options, steps)
        })
        let asked = 0
        for (const schedule of schedules) asked += await follow(connection, schedule)
        assert.ok(asked > 100, `only ${asked} messages`)
      })
    }
  } finally {
    connection.close()
  }
})

test('in a schema that is made anew nobody gets a slot while one is on the list that has not told what it holds', async () => {
  await using postgres = await startPostgres()
  const connection = await connect(await postgres.database('made_anew'), {
    applicationName: 'test',
    statementTimeoutMs: 20_000,
  })
  const enter = (name: string, other: string): Promise<unknown> =>
    connection.query(
      `SELECT tokenweir.enter_gateway($1, $1, 'host', 1, NULL, NULL, NULL, NULL, '', $2, 5, NULL, NULL, 5, 1, false, '1', ARRAY[$3])`,
      [name, leaseMs, other],
    )
  const sync = `SELECT pool_id, granted_total, others FROM tokenweir.slots_sync($1, $2, 2, $3, 0, $3, $4, ${leaseMs}, 0, 0)`
  const tell = async (name: string, poolId: unknown, held: number, ages: readonly number[] = []) =>
    (await connection.query(sync, [name, poolId, held, ages]))[0] ?? []
  try {
    await makeSharedSchema(connection)
    await enter('one', 'other')
    let news = 0
    connection.notified(() => news++)
    await connection.query('LISTEN tokenweir_one')
    await enter('other', 'one')
    assert.equal(news, 1, 'one asks, and hears of the other')
    const [poolId] = await tell('other', null, 2)
    assert.deepEqual(await tell('other', poolId, 2, [9, 8, 7]), [poolId, 2, ['one']], 'one may hold slots')
    assert.deepEqual(await tell('one', poolId, 2), [poolId, 2, ['other']])
    assert.deepEqual(await tell('other', poolId, 2, [9, 8, 7]), [poolId, 3, ['one']], 'one slot is free')
  } finally {
    connection.close()
  }
})
