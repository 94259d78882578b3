import { Client, types } from 'pg'
import { makeSharedSchema } from '../schema/shared-schema.ts'
import type { OpenSharedDatabase } from './share-roles.ts'

const limits = { connectMs: 5000, statementMs: 20_000 } as const
/** PostgreSQL's number for bigint. Ids have 53 bits, so that they fit. */
const bigintType = 20

/**
 * Connects for the sending and fetching of rows. Every wait has an end: a connection whose server hangs is given up by this
 * side. Rejects in PostgreSQL's words, or those of the socket.
 */
export async function connectRows(url: string): Promise<OpenSharedDatabase> {
  const client = new Client({
    connectionString: url,
    application_name: 'tokenweir rows',
    connectionTimeoutMillis: limits.connectMs,
    statement_timeout: limits.statementMs,
    query_timeout: limits.statementMs + 2000,
    keepAlive: true,
    types: {
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === bigintType ? Number : (types.getTypeParser(type, format) as (text: string) => unknown),
    },
  })
  // What ends an idle connection is found out by the next statement.
  client.on('error', () => {})
  const connection: OpenSharedDatabase = {
    query: async (text, values) => {
      const query = {
        text,
        rowMode: 'array',
        ...(values === undefined ? {} : { values: [...values] }),
      } as const
      return (await client.query<unknown[]>(query)).rows
    },
    close: async () => drop(client),
  }
  try {
    await client.connect()
    // To compile statements of so many columns takes seconds, to run them milliseconds.
    await connection.query('SET jit = off')
    await makeSharedSchema(connection)
    return connection
  } catch (error) {
    drop(client)
    throw error
  }
}

/** Without a farewell, for which a server that hangs would be waited. */
function drop(client: Client): void {
  void client.end().catch(() => {})
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  setTimeout(() => stream.destroy(), 50).unref()
}
