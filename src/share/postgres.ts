import { Client, types } from 'pg'
import { makeSharedSchema } from './schema/shared-schema.ts'

const connectLimitMs = 5000
/** Additional time for the server's own time-out to arrive. */
const answerMs = 500
/** The type id of `bigint`. */
const bigintType = 20
/** PostgreSQL's `protocol_violation`, with which poolers refuse unknown settings. */
const unknownSetting = '08P01'

/** How to connect to PostgreSQL. */
export interface ConnectOptions {
  readonly applicationName: string
  /** A longer statement is cancelled. If the server does not report that, the connection is closed. */
  readonly statementTimeoutMs: number
}

/** A connection to PostgreSQL. Values of rows are arrays by column; 64-bit numbers are numbers. */
export interface PostgresConnection {
  /** Runs a statement. Rejects with PostgreSQL's or the socket's error, at the latest after the time-out. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]>
  /** Sets the listener for each `NOTIFY` on a channel of this connection. */
  notified(listener: (channel: string) => void): void
  /** Resolves when the connection has ended, on either side. */
  readonly closed: Promise<void>
  close(): void
}

/**
 * Connects, with TLS as the address says (`?sslmode=verify-full`). Rejects with PostgreSQL's or the socket's
 * error; {@link errorInWords} makes a message for people.
 */
export async function connect(url: string, options: ConnectOptions): Promise<PostgresConnection> {
  try {
    return await open(url, options, true)
  } catch (error) {
    // PgBouncer refuses the setting for statement time-outs, so only this side's time-out remains.
    if (codeOf(error) !== unknownSetting) throw error
    return await open(url, options, false)
  }
}

/** Connects to the shared database, and creates the schema if it is missing. Rejects as {@link connect} does. */
export async function connectShared(url: string, options: ConnectOptions): Promise<PostgresConnection> {
  const connection = await connect(url, options)
  try {
    await makeSharedSchema(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Host and database of an address, never its user or password. */
export function shownAddress(url: string): string {
  const address = URL.parse(url)
  return address === null ? 'the address in TOKENWEIR_SHARE' : `${address.host}${address.pathname}`
}

/**
 * Returns an error of the shared database, in words that complete "the shared database …". The text has only host
 * and database of the address.
 */
export function errorInWords(error: unknown, url: string): string {
  const where = shownAddress(url)
  const code = codeOf(error)
  if (code === 'ECONNREFUSED') return `${where} refuses connections`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `${where} has an unknown host name`
  if (code === '28P01' || code === '28000') return `${where} does not accept this user or password`
  if (code === '3D000') return `${where} names a database that the server does not have`
  if (code === '42501')
    return `${where} does not let this user make or use the schema tokenweir (\`tokenweir doctor --share\` says what to do)`
  if (code === '53300') return `${where} has no connection left`
  const message = error instanceof Error ? error.message : 'an unknown error'
  return `${where} answers: ${withoutPassword(message, url)}`
}

async function open(url: string, options: ConnectOptions, tellsServer: boolean): Promise<PostgresConnection> {
  const { applicationName, statementTimeoutMs } = options
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: connectLimitMs,
    ...(tellsServer ? { statement_timeout: statementTimeoutMs } : {}),
    query_timeout: statementTimeoutMs + answerMs,
    keepAlive: true,
    types: {
      getTypeParser: (type: number, format?: 'text' | 'binary') =>
        type === bigintType ? Number : parserOf(type, format),
    },
  })
  const { promise: closed, resolve: gone } = Promise.withResolvers<void>()
  // An idle connection ends with `error` or `end`.
  client.on('error', () => gone())
  client.on('end', () => gone())
  const close = (): void => {
    gone()
    // The socket is destroyed soon after, because an orderly end would wait for a server that hangs.
    void client.end().catch(() => {})
    const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
    setTimeout(() => stream.destroy(), 50).unref()
  }
  try {
    await client.connect()
    // PostgreSQL's JIT takes seconds for milliseconds of work on statements of many columns.
    await client.query('SET jit = off')
  } catch (error) {
    close()
    throw error
  }
  return {
    query: async (text, values) => {
      const query = {
        text,
        rowMode: 'array',
        ...(values === undefined ? {} : { values: [...values] }),
      } as const
      return (await client.query<unknown[]>(query)).rows
    },
    notified: (listener) => void client.on('notification', ({ channel }) => listener(channel)),
    closed,
    close,
  }
}

const parserOf = types.getTypeParser as (type: number, format?: string) => (text: string) => unknown

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/**
 * A text without the address's password. Never throws: pg accepts addresses that `URL` refuses, and passwords
 * with a bare percent sign.
 */
function withoutPassword(text: string, url: string): string {
  const password = /^[^:]*:\/\/[^:/?#]*:([^/?#]*)@/.exec(url)?.[1] ?? ''
  if (password === '') return text
  return text.replaceAll(password, '…').replaceAll(decoded(password), '…')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
