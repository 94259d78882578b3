import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './free-port.ts'
import { postgresPrograms } from './postgres-programs.ts'
import { makeTempDir } from './temp-dir.ts'

/** A PostgreSQL of a test's own. */
export interface Postgres extends AsyncDisposable {
  /** `postgres://tokenweir@127.0.0.1:<port>/<database>`, of a database that is made for it. */
  database(name: string): Promise<string>
  /** Ends it at once, as a loss of power does, and starts it again. */
  restart(): Promise<void>
  /** Ends it at once, for good. */
  stop(): Promise<void>
}

/** It never runs as root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

export async function startPostgres(): Promise<Postgres> {
  const bin = postgresPrograms()
  assert.ok(bin !== undefined, 'these tests need PostgreSQL: `npm test` gets it')
  const user = owner()
  const dir = await makeTempDir()
  if (user.uid !== undefined) chownSync(dir.path, user.uid, user.gid ?? 0)
  chmodSync(dir.path, 0o700)
  const data = join(dir.path, 'data')
  const stdio = 'ignore'
  const init = ['-D', data, '-U', 'tokenweir', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  execFileSync(join(bin, 'initdb'), init, { ...user, cwd: dir.path, stdio })
  const port = await freePort()
  const url = (database: string): string => `postgres://tokenweir@127.0.0.1:${port}/${database}`
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: dir.path, fsync: 'off' }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let server: ChildProcess | null = null
  const start = async (): Promise<void> => {
    server = spawn(join(bin, 'postgres'), ['-D', data, ...args], { ...user, cwd: dir.path, stdio })
    for (let isUp = false; !isUp;) {
      const client = new Client({ connectionString: url('postgres') })
      client.on('error', () => {})
      isUp = await client.connect().then(
        () => true,
        () => false,
      )
      await client.end().catch(() => {})
      assert.equal(server.exitCode, null, 'PostgreSQL does not start')
    }
  }
  const stop = async (): Promise<void> => {
    if (server === null || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGQUIT')
    await ended
  }
  await start()
  return {
    database: async (name) => {
      const client = new Client({ connectionString: url('postgres') })
      await client.connect()
      await client.query(`CREATE DATABASE ${name}`)
      await client.end()
      return url(name)
    },
    restart: async () => {
      await stop()
      await start()
    },
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop()
      await dir[Symbol.asyncDispose]()
    },
  }
}
