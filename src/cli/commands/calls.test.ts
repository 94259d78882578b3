import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CallFilter } from '../../call/call-filter.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { CallPage, CallReader, EndedCalls } from '../../call/call-reader.ts'
import type { StoreAbsence } from '../../store/sqlite/open-store.ts'
import { callJson } from '../../../test/support/call-json.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import { commandFault } from '../../../test/support/command-fault.ts'
import { FakeTerminal } from '../../../test/support/fake-terminal.ts'
import { given } from '../../../test/support/given.ts'
import * as calls from './calls.ts'
import { OptionError } from '../parse-options.ts'

/** Calls in the order in which they ended, and a note of what was asked; nothing else is asked of it. */
class FakeReader implements Pick<CallReader, 'list' | 'endedSince' | 'lastSeq' | 'close'> {
  readonly calls: CallJson[]
  readonly filters: CallFilter[] = []
  closed = false

  constructor(...ids: readonly string[]) {
    this.calls = ids.map((id) => callJson({ id }))
  }

  async list(filter: CallFilter, page: CallPage): Promise<readonly CallJson[]> {
    this.filters.push(filter)
    return this.calls.toReversed().slice(0, page.limit)
  }

  async endedSince(afterSeq: number, filter: CallFilter, limit: number): Promise<EndedCalls> {
    this.filters.push(filter)
    const calls = this.calls.slice(afterSeq, afterSeq + limit)
    return { calls, lastSeq: afterSeq + calls.length }
  }

  async lastSeq(): Promise<number> {
    return this.calls.length
  }

  close(): void {
    this.closed = true
  }
}

function setUp(...readers: readonly (FakeReader | StoreAbsence)[]) {
  const clock = new FakeClock()
  const closed = new AbortController()
  const terminal = new FakeTerminal({ clock, width: 80, signal: closed.signal })
  const remaining = [...readers]
  const run = {
    clock,
    closed,
    get stdout(): string {
      return terminal.out
    },
    get stderr(): string {
      return terminal.err
    },
    paths: [] as string[],
    ids: () => [...run.stdout.matchAll(/"id":"(\w+)"/g)].map(([, id]) => id),
    calls: async (argv: readonly string[], env = {}) =>
      calls.run(...given(calls, argv, terminal, env), (path) => {
        run.paths.push(path)
        return (remaining.length > 1 ? remaining.shift() : remaining[0]) as CallReader | StoreAbsence
      }),
  }
  return run
}

describe('tokenweir calls', () => {
  it('prints the last calls, the newest last, and what they come to', async () => {
    const reader = new FakeReader('a', 'b', 'c')
    const run = setUp(reader)
    assert.equal(await run.calls(['--recent', '2']), 0)
    const lines = run.stdout.split('\n')
    assert.match(lines[0] ?? '', /time UTC {2}model/)
    assert.equal(lines.length, 5)
    assert.match(lines[3] ?? '', /^the newest 2 calls · 0 failed · 2,408 → 344 tokens$/)
    assert.deepEqual(run.paths, ['data/llm_telemetry.db'])
    assert.ok(reader.closed)
  })

  it('prints a JSON object per line', async () => {
    const reader = new FakeReader('a', 'b')
    const run = setUp(reader)
    await run.calls(['--json'])
    const objects = run.stdout
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    assert.deepEqual(objects, reader.calls)
  })

  it('asks for what the options say', async () => {
    const reader = new FakeReader()
    const run = setUp(reader)
    const wants = ['--errors', '--model', 'a', '--model', 'b/c', '--since', '15m', '--db', 'x.db']
    wants.push('--session', 'run 1', '--session', 'run 2', '--tag', 'env:prod')
    await run.calls(wants)
    await setUp(reader).calls([])
    const fromMs = run.clock.wallTime() - 900_000
    assert.deepEqual(reader.filters, [
      { failedOnly: true, model: ['a', 'b/c'], session: ['run 1', 'run 2'], tag: ['env:prod'], fromMs },
      {},
    ])
    assert.deepEqual(run.paths, ['x.db'])
  })

  it('reads and prints times in one zone, which the heading names', async (context) => {
    const { TZ } = process.env
    context.after(() => {
      if (TZ === undefined) delete process.env['TZ']
      else process.env['TZ'] = TZ
    })
    const reader = new FakeReader('a')
    const run = setUp(reader)
    await run.calls(['--tz', 'Asia/Tokyo', '--from', '2026-11-21'])
    assert.deepEqual(reader.filters, [{ fromMs: Date.parse('2026-11-20T15:00:00Z') }])
    assert.match(run.stdout, /time UTC\+9 {2}model/)
  })

  it('says how to record a first call where there is none, and fails nobody', async () => {
    for (const nothing of ['missing', 'empty', new FakeReader()] as const) {
      const run = setUp(nothing)
      assert.equal(await run.calls([], { TOKENWEIR_DB: 'my.db' }), 0)
      assert.match(
        run.stdout,
        /^No calls are recorded in \S+\/my\.db yet: start "tokenweir gateway" .*9090\/v1.*\n$/,
      )
      const elsewhere = setUp(nothing)
      await elsewhere.calls([], { TOKENWEIR_HOST: '192.168.1.5' })
      assert.match(elsewhere.stdout, /a call to http:\/\/192\.168\.1\.5:9090\/v1 /)
      const json = setUp(nothing)
      assert.equal(await json.calls(['--json']), 0)
      assert.equal(json.stdout + json.stderr, '')
    }
  })

  it('says that nothing matches where other calls are recorded', async () => {
    const reader = new FakeReader('a')
    reader.list = async () => []
    const run = setUp(reader)
    await run.calls(['--errors'])
    assert.equal(run.stdout, 'No recorded calls match.\n')
    const none = setUp(new FakeReader('a'))
    await none.calls(['--recent', '0'])
    assert.match(none.stdout, /^time UTC.*\nthe newest 0 calls/)
  })

  it('fails on a file that it cannot read', async () => {
    const run = setUp('damaged')
    await assert.rejects(run.calls(['--db', 'x.db']), commandFault(/^\S+\/x\.db: The file is damaged/))
    assert.equal(run.stdout, '')
  })

  it('refuses a wrong value', async () => {
    await assert.rejects(setUp('missing').calls(['--since', '1y']), (error) => {
      assert.ok(error instanceof OptionError)
      assert.match(error.message, /^--since must be .* 1h or 7d; got "1y"$/)
      return true
    })
  })

  it('follows the calls that end, each once', async () => {
    const reader = new FakeReader('a', 'b', 'c')
    const run = setUp(reader)
    const list = reader.list.bind(reader)
    reader.list = (filter, page) => {
      reader.calls.push(callJson({ id: 'between' }))
      return list(filter, page)
    }
    const done = run.calls(['--follow', '--json', '--recent', '2'])
    await run.clock.advance(0)
    assert.deepEqual(run.ids(), ['c', 'between'])
    reader.calls.push(callJson({ id: 'd' }), callJson({ id: 'e' }))
    await run.clock.advance(500)
    assert.deepEqual(run.ids(), ['c', 'between', 'd', 'e'])
    await run.clock.advance(5000)
    reader.calls.push(callJson({ id: 'f' }))
    await run.clock.advance(500)
    assert.deepEqual(run.ids(), ['c', 'between', 'd', 'e', 'f'])
    run.closed.abort()
    assert.equal(await done, 0)
    assert.ok(reader.closed)
  })

  it('catches up without a pause when many calls have ended', async () => {
    const reader = new FakeReader()
    const run = setUp(reader)
    const done = run.calls(['--follow', '--json'])
    await run.clock.advance(0)
    for (let i = 0; i < 2500; i++) reader.calls.push(callJson({ id: `n${i}` }))
    await run.clock.advance(500)
    assert.equal(run.ids().length, 2500)
    run.closed.abort()
    await done
  })

  it('follows in a table under one header', async () => {
    const reader = new FakeReader('a')
    const run = setUp(reader)
    const done = run.calls(['--follow'])
    await run.clock.advance(0)
    reader.calls.push(callJson({ id: 'b' }))
    await run.clock.advance(500)
    run.closed.abort()
    await done
    assert.equal(run.stdout.match(/model/g)?.length, 1)
    assert.equal(run.stdout.match(/gpt-5-mini/g)?.length, 2)
  })

  it('waits for a database that is yet to come', async () => {
    const run = setUp('missing', 'empty', new FakeReader('a'))
    const done = run.calls(['--follow', '--json'])
    await run.clock.advance(0)
    assert.match(run.stderr, /No calls are recorded/)
    await run.clock.advance(1000)
    assert.deepEqual(run.ids(), ['a'])
    run.closed.abort()
    assert.equal(await done, 0)
  })

  it('ends its wait when nobody reads any more', async () => {
    const run = setUp('missing')
    const done = run.calls(['--follow'])
    await run.clock.advance(0)
    run.closed.abort()
    assert.equal(await done, 0)
  })
})
