import { hash } from 'node:crypto'
import { listTables } from './list-tables.ts'
import { rowTables } from './row-tables.ts'
import { slotTables } from './slot-tables.ts'

/** The part of a connection that creates the schema. */
interface Connection {
  query(sql: string): Promise<readonly (readonly unknown[])[]>
}

const tables = `${slotTables}${rowTables}${listTables}`
/** Two programs with different tables or functions cannot share a schema. */
const schemaVersion = hash('sha256', tables.replaceAll(/^ *--.*\n/gm, ''))
const schemaSql = `CREATE SCHEMA IF NOT EXISTS tokenweir;\n${tables}
COMMENT ON TABLE tokenweir.calls IS '${schemaVersion}'`
const versionSql = `SELECT to_regclass('tokenweir.calls') IS NULL,
  obj_description(to_regclass('tokenweir.calls'), 'pg_class')`

/** Creates the schema `tokenweir` if it is missing; one program at a time. Rejects if the schema is of another version. */
export async function makeSharedSchema(connection: Connection): Promise<void> {
  if (await isMade(connection)) return
  await connection.query('BEGIN')
  try {
    await connection.query("SELECT pg_advisory_xact_lock(hashtext('tokenweir.schema'))")
    if (!(await isMade(connection))) await connection.query(schemaSql)
    await connection.query('COMMIT')
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function isMade(connection: Connection): Promise<boolean> {
  const [[isMissing, version] = []] = await connection.query(versionSql)
  if (isMissing === true) return false
  if (version === schemaVersion) return true
  throw new Error(
    'the schema tokenweir is of another version of tokenweir. Stop all gateways that share, and drop it (DROP SCHEMA tokenweir CASCADE): each then sends its calls again',
  )
}
