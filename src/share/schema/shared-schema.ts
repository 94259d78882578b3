import { budgetTables } from './budget-tables.ts'
import { listTables } from './list-tables.ts'
import { callColumns, readableNames, readableView, rowTables } from './row-tables.ts'
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
  const isMade = table[0]?.[0] === true && (await missing(connection)).length === 0
  if (isMade && (await missingColumns(connection)).length === 0) return
  await connection.query('BEGIN')
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtext('tokenweir.schema'))")
    // Asks for a right that is not needed where all but a column is there.
    if (!isMade) {
      await connection.query('CREATE SCHEMA IF NOT EXISTS tokenweir')
      await connection.query(
        'CREATE TABLE IF NOT EXISTS tokenweir.schema_steps (step integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())',
      )
    }
    for (const step of await missing(connection)) {
      await connection.query(steps.get(step) ?? '')
      await connection.query('INSERT INTO tokenweir.schema_steps (step) VALUES ($1)', [step])
    }
    await addColumns(connection)
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

/** Columns of calls that a schema of an older version lacks. */
async function missingColumns(connection: Connection): Promise<typeof callColumns> {
  const there = new Set(await columnsOf(connection, 'calls'))
  return callColumns.filter(([name]) => !there.has(name))
}

/** Adds what is missing, and takes nothing away: gateways of an older version go on beside this one. */
async function addColumns(connection: Connection): Promise<void> {
  const added = await missingColumns(connection)
  if (added.length === 0) return
  const columns = added.map(([name, type]) => `ADD COLUMN ${name} ${type}`)
  await connection.query(`ALTER TABLE tokenweir.calls ${columns.join(', ')}`)
  const shown = await columnsOf(connection, 'calls_readable')
  // A view takes new columns only behind those that it has.
  const view = readableView([...new Set([...shown, ...readableNames])])
  if (view !== null) await connection.query(view)
}

async function columnsOf(connection: Connection, table: string): Promise<readonly string[]> {
  const sql = `SELECT attname FROM pg_attribute
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
  return (await connection.query(sql, [`tokenweir.${table}`])).map(([name]) => String(name))
}
