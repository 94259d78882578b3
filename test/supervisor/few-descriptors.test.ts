import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent, request, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { writeCalls } from '../store/write-calls.ts'
import { chatCall } from '../store/sample-call.ts'
import { openForWriting } from '../../src/store/sqlite/open-store.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'

/** Lets a process open at most so many more files. */
function allowFiles(pid: number, more: number): void {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number))
  let limit = 0
  for (let free = 0; free < more || open.has(limit); limit += 1) if (!open.has(limit)) free += 1
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}:`])
}

test(
  'a dashboard without free file descriptors starts no process, says so, and serves on',
  { skip: process.platform !== 'linux' },
  async () => {
    await using dir = await makeTempDir()
    const database = openForWriting(dir.file('data/llm_telemetry.db'))
    writeCalls(database, [chatCall(Date.now() * 4096)])
    database.close()
    await using dashboard = await startDashboardProcess({ directory: dir.path })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = async (method: string, path: string, body?: object): Promise<string> => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' }
      const asking = request(`${dashboard.origin}${path}`, { agent, method, headers })
      asking.end(body === undefined ? undefined : JSON.stringify(body))
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      return `${answer.statusCode} ${(await answer.setEncoding('utf8').toArray()).join('')}`
    }
    const compress = { keep_days: 30, dry_run: true }
    const jobs = [
      ['POST', '/api/db/compress', compress],
      ['POST', '/api/costs/reprice', { from: '2026-01-01', to: '2026-01-02', tz: 'UTC', dry_run: true }],
      ['POST', '/api/costs/sync'],
      ['GET', '/api/export'],
      ['POST', '/api/proxy/start'],
    ] as const
    assert.match(await ask('GET', '/api/db'), /^200 /)
    for (const more of [0, 4]) {
      allowFiles(dashboard.command.pid, more)
      for (const [method, path, body] of jobs) {
        const answer = await ask(method, path, body)
        assert.match(answer, /^500 .*"code":"(?:job|start)_failed".*(?:too many files open|EMFILE)/, path)
      }
      allowFiles(dashboard.command.pid, 200)
      assert.match(await ask('POST', '/api/db/compress', compress), /^200 /)
    }
    agent.destroy()
  },
)
