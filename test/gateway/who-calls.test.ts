import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallJson } from '../../src/call/call-record.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { openRawClient } from '../support/raw-client.ts'
import { untilNoted } from '../support/open-calls.ts'
import { recordedCalls, rowOf } from '../support/recorded-calls.ts'
import { stall } from '../support/reply-step.ts'
import { type HeaderLines, jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const { upstream, gateway } = await startGatewayOfFile({}, { reply: () => jsonReply(200, { choices: [] }) })

const path = '/v1/chat/completions'
const key = 'sk-proj-abcdEFGH1234ijklMNOP5678'

async function rowFor(
  headers: HeaderLines,
  body: object | string = {},
  through: GatewayProcess = gateway,
): Promise<CallJson> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const answer = await exchange(through.port, 'POST', path, { headers, body: text })
  assert.equal(answer.status, 200)
  return rowOf(through, answer)
}

type Named = readonly [session: string | null, source: string | null]

const sessions: readonly [what: string, headers: HeaderLines, body: object | string, named: Named][] = [
  ['nothing', [], {}, [null, null]],
  [
    'our header first',
    [
      ['session-id', 'b'],
      ['X-Tokenweir-Session', 'a'],
    ],
    { prompt_cache_key: 'c' },
    ['a', 'x-tokenweir-session'],
  ],
  [
    'Claude Code',
    [
      ['X-Claude-Code-Session-Id', 'a'],
      ['x-session-id', 'b'],
    ],
    {},
    ['a', 'x-claude-code-session-id'],
  ],
  [
    'Codex',
    [
      ['thread-id', 't'],
      ['session-id', 's'],
    ],
    { prompt_cache_key: 's' },
    ['s', 'session-id'],
  ],
  [
    'a header that is empty',
    [
      ['x-session-id', ''],
      ['session_id', 'old'],
    ],
    {},
    ['old', 'session_id'],
  ],
  [
    'of one header twice',
    [
      ['thread-id', ''],
      ['thread-id', 'a'],
      ['thread-id', 'b'],
    ],
    {},
    ['a', 'thread-id'],
  ],
  ['Langfuse', [['langfuse_session_id', 'l']], {}, ['l', 'langfuse_session_id']],
  ['the body', [], { model: 'm', prompt_cache_key: 'run' }, ['run', 'prompt_cache_key']],
  ['Messages', [], { metadata: { user_id: '{"session_id":"run"}' } }, ['run', 'metadata.user_id']],
  [
    'a header that is no name, and a body',
    [['session-id', 'a\tb']],
    { prompt_cache_key: 'run' },
    ['run', 'prompt_cache_key'],
  ],
  ['a header that is far too long', [['session-id', 'x'.repeat(5000)]], {}, [null, null]],
  ['a header that is long', [['session-id', 'x'.repeat(300)]], {}, ['x'.repeat(200), 'session-id']],
  ['a credential', [['session-id', key]], {}, ['[secret]', 'session-id']],
  ['bytes that are no UTF-8', [['session-id', 'caf\xe9']], {}, ['café', 'session-id']],
  ['UTF-8', [['session-id', Buffer.from('läuft').toString('latin1')]], {}, ['läuft', 'session-id']],
  ['a key with control characters', [], { prompt_cache_key: 'a\u0000b' }, [null, null]],
  ['a key that is no text', [], { prompt_cache_key: { a: 1 } }, [null, null]],
  ['a body that is no JSON', [['session-id', 's']], '{"prompt_cache_key":', ['s', 'session-id']],
]

for (const [what, headers, body, named] of sessions) {
  test(`session: ${what}`, async () => {
    const { session, session_source } = await rowFor(headers, body)
    assert.deepEqual([session, session_source], named)
  })
}

test('what names a session, a client or tags goes on untouched, but for our own headers', async () => {
  const headers: HeaderLines = [
    ['Session-ID', 'run'],
    ['x-tokenweir-session', 'ours'],
    ['x-tokenweir-tag-team', 'a'],
    ['Helicone-Property-Env', 'prod'],
    ['X-LiteLLM-Tags', 'one,two'],
    ['originator', 'codex_exec'],
    ['X-Title', 'App'],
    ['HTTP-Referer', 'https://example.com'],
  ]
  const body = '{ "user" : "u",\n "metadata":{"a" : 1},"prompt_cache_key":"p"}'
  const row = await rowFor(headers, body)
  assert.equal(row.tags, 'team:a,env:prod,tag:one,tag:two,user:u,a:1')
  assert.equal(row.client, 'codex')
  const sent = upstream.requests.at(-1)!
  assert.equal(sent.body.toString(), body)
  for (const [name, value] of headers) {
    const at = sent.rawHeaders.indexOf(name)
    assert.equal(
      at < 0 ? undefined : sent.rawHeaders[at + 1],
      name.startsWith('x-tokenweir') ? undefined : value,
    )
  }
})

test('names of --session-header go first, and none leaves out those that agents send', async () => {
  const args = ['--session-header', 'X-Run,x-session-id', '--session-header', 'none']
  await using own = await startGatewayProcess({ upstream: upstream.origin, args })
  const named = async (headers: HeaderLines, body: object = {}): Promise<Named> => {
    const { session, session_source } = await rowFor(headers, body, own)
    return [session, session_source]
  }
  assert.deepEqual(
    await named([
      ['x-tokenweir-session', 'b'],
      ['X-RUN', 'a'],
    ]),
    ['a', 'x-run'],
  )
  assert.deepEqual(
    await named([
      ['x-tokenweir-session', 'b'],
      ['x-session-id', 'a'],
    ]),
    ['a', 'x-session-id'],
  )
  assert.deepEqual(
    await named([
      ['x-tokenweir-session', 'b'],
      ['session-id', 'a'],
    ]),
    ['b', 'x-tokenweir-session'],
  )
  assert.deepEqual(await named([['session-id', 'a']], { prompt_cache_key: 'c' }), [null, null])
})

test('a call that was interrupted has its session, what named it, its client and its tags', async () => {
  await using silent = await startSimulatedUpstream({
    reply: ({ index }) => (index === 0 ? jsonReply(200, {}) : [stall()]),
  })
  await using first = await startGatewayProcess({ upstream: silent.origin })
  await rowFor([], {}, first)
  await using client = await openRawClient(first.port)
  const body = JSON.stringify({ prompt_cache_key: 'run', user: 'u' })
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nUser-Agent: codex_exec/1\r\nx-tokenweir-tag-team: a\r\n`
  await client.send(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  await silent.waitForRequest(1)
  await untilNoted(first.databaseFile, 1)
  await first.kill9()
  await using second = await startGatewayProcess({ upstream: silent.origin, directory: first.directory })
  const [, row] = await recordedCalls(second, 2)
  const { outcome, session, session_source, client: name, tags } = row!
  assert.deepEqual(
    [outcome, session, session_source, name, tags],
    ['interrupted', 'run', 'prompt_cache_key', 'codex', 'team:a,user:u'],
  )
})
