import { budgetTables } from './budget-tables.ts'
import { listTables } from './list-tables.ts'
import { rowTables } from './row-tables.ts'
import { slotTables } from './slot-tables.ts'

/** What the schema's making needs of a connection. */
interface Connection {
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>
}

/** Steps of the schema `tokenweir`, by their numbers. What stands in one is never edited once released. */
const steps: ReadonlyMap<number, string> = new Map([
  [1, slotTables],
  [2, rowTables],
  [3, budgetTables],
  [4, listTables],
])

/** Makes what is missing of the schema, one program at a time. */
export async function makeSharedSchema(connection: Connection): Promise<void> {
  const table = await connection.query("SELECT to_regclass('tokenweir.schema_steps') IS NOT NULL")
  if (table[0]?.[0] === true && (await missing(connection)).length === 0) return
  await connection.query('BEGIN')
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtext('tokenweir.schema'))")
    await connection.query('CREATE SCHEMA IF NOT EXISTS tokenweir')
    await connection.query(
      'CREATE TABLE IF NOT EXISTS tokenweir.schema_steps (step integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
    )
    for (const step of await missing(connection)) {
      await connection.query(steps.get(step) ?? '')
      await connection.query('INSERT INTO tokenweir.schema_steps (step) VALUES ($1)', [step])
    }
    await connection.query('COMMIT')
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function missing(connection: Connection): Promise<readonly number[]> {
  const done = new Set(
    (await connection.query('SELECT step FROM tokenweir.schema_steps')).map(([step]) => step),
  )
  return [...steps.keys()].filter((step) => !done.has(step))
}
