import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BudgetMessage } from '../../src/gateway/admission/shared-budget.ts'
import { type PostgresConnection, connect } from '../../src/share/postgres.ts'
import { makeSharedSchema } from '../../src/share/schema/shared-schema.ts'
import { type BudgetAnswerOfPool, BudgetPool, playBudget } from '../faults/budget-schedules.ts'
import { startPostgres } from '../support/postgres.ts'

const limit = 10_000
const schedules = 12

/** What was asked of a pool, and what came of it. */
type Step =
  | { readonly instance: string; readonly message: BudgetMessage; readonly answer: BudgetAnswerOfPool }
  | { readonly counted: string; readonly tokens: number }
  | { readonly left: string; readonly isWhole: boolean }

class RecordedPool extends BudgetPool {
  readonly steps: Step[] = []

  override sync(instance: string, message: BudgetMessage): BudgetAnswerOfPool {
    const answer = super.sync(instance, message)
    this.steps.push({ instance, message, answer })
    return answer
  }

  override count(counted: string, tokens: number): void {
    super.count(counted, tokens)
    this.steps.push({ counted, tokens })
  }

  override left(left: string, isWhole: boolean): void {
    super.left(left, isWhole)
    this.steps.push({ left, isWhole })
  }
}

/** Asks the function in the database what was asked of the pool. Throws where they differ. */
async function follow(connection: PostgresConnection, steps: readonly Step[]): Promise<number> {
  const one = async (sql: string, ...values: readonly unknown[]) =>
    (await connection.query(sql, values))[0] ?? []
  await one(
    'TRUNCATE tokenweir.gateways, tokenweir.budget_holders, tokenweir.budget_totals, tokenweir.budget_minutes',
  )
  await one('TRUNCATE tokenweir.words RESTART IDENTITY')
  const known = new Set<string>()
  let asked = 0
  for (const [at, step] of steps.entries()) {
    const where = `step ${at}: ${JSON.stringify(step)}`
    if ('message' in step) {
      const { instance, message, answer } = step
      if (!known.has(instance)) {
        await one('INSERT INTO tokenweir.words (text) VALUES ($1)', instance)
        await one(
          `INSERT INTO tokenweir.gateways (instance, number, folder, host, pid, version, asked_concurrent, lease_ms)
          VALUES ($1, $2, $1, 'h', 1, 'v', 1, 1000)`,
          instance,
          known.size,
        )
        known.add(instance)
      }
      const { granted, given, used, reserved, needs } = message
      const row = await one(
        'SELECT granted, sent, free, block, used FROM tokenweir.budget_sync($1, $1, $2, $3, $4, $5, $6, false, 0)',
        instance,
        granted,
        given,
        used,
        reserved,
        needs,
      )
      assert.deepEqual(row.slice(0, 4), [answer.granted, answer.sent, answer.free, answer.block], where)
      asked++
    } else if ('counted' in step) {
      await one(
        `INSERT INTO tokenweir.budget_minutes AS m
        SELECT floor(tokenweir.now_ms() / 60000), id, $2, 0 FROM tokenweir.words WHERE text = $1
        ON CONFLICT (minute, instance_id) DO UPDATE SET tokens = m.tokens + excluded.tokens`,
        step.counted,
        step.tokens,
      )
    } else if (step.isWhole) await one('DELETE FROM tokenweir.budget_holders WHERE instance = $1', step.left)
    else await one('UPDATE tokenweir.gateways SET left_at = now() WHERE instance = $1', step.left)
  }
  return asked
}

test('the function in the database does what the pool of the random schedules does', async () => {
  await using postgres = await startPostgres()
  const connection = await connect(await postgres.database('budget_in_step'), {
    applicationName: 'test',
    statementTimeoutMs: 5000,
  })
  await makeSharedSchema(connection)
  await connection.query('SELECT tokenweir.budget_enter($1, $2, $2, true)', ['f', limit])
  let asked = 0
  for (let seed = 1; seed <= schedules; seed++) {
    const pool = new RecordedPool(limit)
    await playBudget(seed, pool)
    asked += await follow(connection, pool.steps)
  }
  assert.ok(asked > 1000, `${asked} messages`)
  connection.close()
})
