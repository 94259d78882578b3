import { listTables } from './list-tables.ts'
import { callColumns, readableNames, readableView, rowTables } from './row-tables.ts'
import { slotTables } from './slot-tables.ts'

/** The part of a connection that creates the schema. */
interface Connection {
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>
}

const schemaSql = `CREATE SCHEMA IF NOT EXISTS tokenweir;\n${slotTables}${rowTables}${listTables}`

/** Creates the schema `tokenweir` if it is missing, and adds missing columns; one program at a time. */
export async function makeSharedSchema(connection: Connection): Promise<void> {
  if ((await isMade(connection)) && (await missingColumns(connection)).length === 0) return
  await connection.query('BEGIN')
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtext('tokenweir.schema'))")
    if (!(await isMade(connection))) await connection.query(schemaSql)
    await addColumns(connection)
    await connection.query('COMMIT')
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function isMade(connection: Connection): Promise<boolean> {
  const [row] = await connection.query("SELECT to_regclass('tokenweir.calls') IS NOT NULL")
  return row?.[0] === true
}

/** Columns of calls that the schema of an older version lacks. */
async function missingColumns(connection: Connection): Promise<typeof callColumns> {
  const there = new Set(await columnsOf(connection, 'calls'))
  return callColumns.filter(([name]) => !there.has(name))
}

/** Adds missing columns, and removes none, because gateways of an older version still run. */
async function addColumns(connection: Connection): Promise<void> {
  const added = await missingColumns(connection)
  if (added.length === 0) return
  const columns = added.map(([name, type]) => `ADD COLUMN ${name} ${type}`)
  await connection.query(`ALTER TABLE tokenweir.calls ${columns.join(', ')}`)
  const shown = await columnsOf(connection, 'calls_readable')
  // A view accepts new columns only after its existing ones.
  const view = readableView([...new Set([...shown, ...readableNames])])
  if (view !== null) await connection.query(view)
}

async function columnsOf(connection: Connection, table: string): Promise<readonly string[]> {
  const sql = `SELECT attname FROM pg_attribute
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
  return (await connection.query(sql, [`tokenweir.${table}`])).map(([name]) => String(name))
}
