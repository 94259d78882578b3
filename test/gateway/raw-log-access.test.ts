import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { type RequestParts, requestBytes } from '../support/exchange.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord, parseRecord } from '../support/json-record.ts'
import { rawLogOf } from '../support/raw-log.ts'
import { openRawClient } from '../support/raw-client.ts'
import { type RawResponse, parseRawResponse } from '../support/raw-response.ts'
import type { HeaderLines } from '../support/response-bytes.ts'

const adminToken = 'the-admin-token-of-this-test'
const { upstream, gateway } = await startGatewayOfFile({
  args: ['--allow-host', 'gateway.example', '--raw-log'],
  env: { TOKENWEIR_ADMIN_TOKEN: adminToken },
})
const log = rawLogOf(gateway)
const bait = 'a-prompt-that-nobody-else-may-read'

const routes: readonly (readonly [method: string, name: string])[] = [
  ['GET', 'status'],
  ['POST', 'toggle'],
  ['GET', 'recent'],
  ['POST', 'clear'],
  ['GET', 'stream'],
]

/** Of the feed only what came first; of a refusal all. */
async function ask(
  method: string,
  name: string,
  parts: RequestParts & { readonly address?: string } = {},
): Promise<RawResponse> {
  await using client = await openRawClient(gateway.port, parts.address)
  await client.send(
    requestBytes(method, `/v1/raw-log/${name}`, { host: `127.0.0.1:${gateway.port}`, ...parts }),
  )
  if (name === 'stream') await client.waitForBytes('\r\n\r\n')
  // The feed has no end: its head will do.
  const begun = parseRawResponse(client.received, method)
  return begun?.framing === 'until-close' ? begun : await client.response(method)
}

function errorOf(response: RawResponse): readonly [status: number, code: unknown, message: string] {
  const { error } = parseRecord(response.body.toString())
  const { code, message, type, param } = asRecord(error)
  assert.deepEqual([type, param], [response.status >= 500 ? 'server_error' : 'invalid_request_error', null])
  assert.equal(response.header('x-tokenweir-error'), code)
  return [response.status, code, String(message)]
}

/** Asserts that every route refuses such a request, and that none has done anything. */
async function assertRefused(
  parts: RequestParts & { readonly address?: string },
  words: RegExp,
): Promise<void> {
  for (const [method, name] of routes) {
    const response = await ask(method, name, parts)
    const [status, code, message] = errorOf(response)
    assert.deepEqual([status, code], [403, 'forbidden'], `${method} ${name} ${JSON.stringify(parts)}`)
    assert.match(message, words)
    assert.ok(!response.body.includes(bait))
    assert.ok(!response.rawHeaders.some((text) => /^access-control/i.test(text)))
  }
}

async function assertNothingDone(): Promise<void> {
  assert.equal((await log.status())['enabled'], true)
  assert.ok((await log.recent()).some((record) => JSON.stringify(record).includes(bait)))
}

test('a program on this machine is let in', async () => {
  const call = await openRawClient(gateway.port)
  await call.send(
    requestBytes('POST', '/v1/chat/completions', { body: JSON.stringify({ model: 'm', prompt: bait }) }),
  )
  await call.response('POST')
  await call[Symbol.asyncDispose]()
  for (const host of [`127.0.0.1:${gateway.port}`, 'localhost', '[::1]', 'weir.localhost']) {
    for (const name of ['status', 'recent', 'stream']) {
      assert.equal((await ask('GET', name, { host })).status, 200, `${host} ${name}`)
    }
  }
  while (!(await log.recent()).some((record) => JSON.stringify(record).includes(bait)));
})

test("another site's page is refused, reading and doing, with the token or without", async () => {
  const sites: HeaderLines[] = [
    [['Origin', 'http://evil.example']],
    [['Origin', 'null']],
    [['Origin', 'http://localhost:3000']],
    [['Sec-Fetch-Site', 'cross-site']],
    [['Sec-Fetch-Site', 'same-site']],
  ]
  for (const site of sites) {
    for (const token of [[], [['X-Tokenweir-Admin-Token', adminToken]]] as HeaderLines[]) {
      await assertRefused({ headers: [...site, ...token] }, /other sites' pages/)
    }
    const body = '{"enabled":false}'
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      const response = await ask('POST', 'toggle', { headers: [...site, ['Content-Type', type]], body })
      assert.equal(response.status, 403, type)
    }
  }
  const preflight = await ask('OPTIONS', 'toggle', {
    headers: [
      ['Origin', 'http://evil.example'],
      ['Access-Control-Request-Method', 'POST'],
    ],
  })
  assert.equal(preflight.status, 403)
  assert.ok(!preflight.rawHeaders.some((text) => /^access-control/i.test(text)))
  await assertNothingDone()
})

test('a name that was turned to this address reaches nothing', async () => {
  for (const host of ['evil.example', `evil.example:${gateway.port}`, 'localhost.evil.example']) {
    await assertRefused({ host }, /--allow-host/)
    await assertRefused({ host, headers: [['X-Tokenweir-Admin-Token', adminToken]] }, /--allow-host/)
  }
  // What may be asked for the state is not yet let in to payloads.
  await assertRefused({ host: 'gateway.example' }, /admin token/)
  await assertRefused({ host: '192.0.2.7' }, /admin token/)
  for (const headers of [[['Host', 'evil.example']], [['Host', '127.0.0.1']]] as HeaderLines[]) {
    assert.deepEqual(errorOf(await ask('GET', 'recent', { headers })).slice(0, 2), [400, 'invalid_request'])
  }
  await assertNothingDone()
})

test('through a proxy, or from another machine, the token is demanded', async () => {
  const proxied = [
    'X-Forwarded-For',
    'Forwarded',
    'X-Real-IP',
    'Via',
    'X-Forwarded-Host',
    'X-Forwarded-Proto',
  ]
  for (const name of proxied) {
    await assertRefused({ headers: [[name, '10.0.0.1']] }, /x-tokenweir-admin-token/)
    const token: HeaderLines = [
      [name, '10.0.0.1'],
      ['X-Tokenweir-Admin-Token', adminToken],
    ]
    assert.equal((await ask('GET', 'recent', { headers: token })).status, 200)
  }
  for (const guess of ['', adminToken.slice(1), `${adminToken} x`, adminToken.toUpperCase()]) {
    const headers: HeaderLines = [
      ['Via', '1.1 a'],
      ['X-Tokenweir-Admin-Token', guess],
    ]
    await assertRefused({ headers }, /x-tokenweir-admin-token/)
  }
  await assertRefused({ host: null, httpVersion: '1.0' }, /admin token/)
  await assertNothingDone()
})

test('from an address that is not a loopback one nothing is open without the token', async (t) => {
  const address = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address
  if (address === undefined) {
    t.diagnostic('this machine has no other address')
    return
  }
  for (const token of [null, adminToken]) {
    await using exposed = await startGatewayProcess({
      upstream: upstream.origin,
      args: ['--host', '0.0.0.0', '--raw-log'],
      env: { TOKENWEIR_ADMIN_TOKEN: token ?? undefined, UPSTREAM_API_KEY: 'sk-lent-to-this-machine-alone' },
    })
    const from = async (method: string, target: string, parts: RequestParts = {}): Promise<RawResponse> => {
      await using client = await openRawClient(exposed.port, address)
      await client.send(requestBytes(method, target, { host: `127.0.0.1:${exposed.port}`, ...parts }))
      return await client.response(method)
    }
    const recent = '/v1/raw-log/recent'
    const words = token === null ? /TOKENWEIR_ADMIN_TOKEN/ : /x-tokenweir-admin-token/
    const [status, code, message] = errorOf(await from('GET', recent))
    assert.deepEqual([status, code], [403, 'forbidden'])
    assert.match(message, words)
    const headers: HeaderLines = [['X-Tokenweir-Admin-Token', adminToken]]
    const withToken = await from('GET', recent, { headers, host: `${address}:${exposed.port}` })
    assert.equal(withToken.status, token === null ? 403 : 200)
    assert.equal('pid' in parseRecord((await from('GET', '/health')).body.toString()), false)
    const call = await from('POST', '/v1/embeddings', { body: '{"model":"m"}' })
    assert.deepEqual([call.status, upstream.requests.at(-1)!.header('authorization')], [200, undefined])
  }
})

test('methods, paths, bodies and limits', async () => {
  for (const [method, name] of routes) {
    for (const other of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'].filter(
      (each) => each !== method,
    )) {
      const response = await ask(other, name)
      assert.deepEqual([response.status, response.header('allow')], [405, method], `${other} ${name}`)
      assert.equal(response.header('x-tokenweir-error'), 'method_not_allowed')
    }
  }
  for (const name of ['', 'x', 'status/', 'Status', 'stream/1', 'recent%20', '..%2fstatus/x']) {
    const [status] = errorOf(await ask('GET', name))
    assert.ok(status === 404 || status === 400, name)
  }
  const post = (name: string, body: string, type = 'application/json'): Promise<RawResponse> =>
    ask('POST', name, { headers: [['Content-Type', type]], body })
  const wrong: readonly (readonly [body: string, words: RegExp])[] = [
    ['{}', /^enabled must be true or false; got nothing/],
    ['{"enabled":"false"}', /^enabled must be/],
    ['{"enabled":true,"for_s":-1}', /^for_s must be/],
    ['nonsense', /not JSON/],
    ['[]', /JSON object/],
  ]
  for (const [body, words] of wrong) {
    const [status, code, message] = errorOf(await post('toggle', body))
    assert.deepEqual([status, code], [400, 'invalid_request'], body)
    assert.match(message, words)
  }
  assert.match(errorOf(await ask('POST', 'toggle'))[2], /^enabled must be/)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '']) {
    assert.match(
      errorOf(await post('toggle', '{"enabled":false}', type))[2],
      /Content-Type: application\/json/,
    )
    assert.equal((await post('clear', '{}', type)).status, 400)
  }
  assert.deepEqual(errorOf(await post('toggle', ' '.repeat(70_000))).slice(0, 2), [413, 'body_too_large'])
  for (const limit of ['0', '1001', '-1', '1.5', 'x', '', '1&limit=2', '99999999999999999999']) {
    const [status, code, message] = errorOf(await ask('GET', `recent?limit=${limit}`))
    assert.deepEqual([status, code], [400, 'invalid_request'], limit)
    assert.match(message, /^limit must be a whole number from 1 to 1,000; got /)
  }
  for (const limit of ['1', '1000', '050']) {
    assert.equal((await ask('GET', `recent?limit=${limit}`)).status, 200)
  }
  await assertNothingDone()
  assert.ok(upstream.requests.every(({ target }) => !target.includes('raw-log')))
})

test('answers are for whoever asked alone, and a toggle tells what is', async () => {
  const response = await ask('POST', 'toggle', {
    headers: [['Content-Type', 'application/json; charset=utf-8']],
    body: '{"enabled":true}',
  })
  const { file_path, file_size_bytes, ...rest } = parseRecord(response.body.toString())
  assert.deepEqual(rest, { success: true, enabled: true, enabled_until: null })
  assert.match(String(file_path), /logger\/payloads\.jsonl$/)
  assert.ok(Number(file_size_bytes) > 0)
  assert.deepEqual(
    ['content-type', 'cache-control', 'x-content-type-options'].map((name) => response.header(name)),
    ['application/json', 'no-store', 'nosniff'],
  )
  const { capture, dropped, trouble, file_size_formatted } = await log.status()
  assert.deepEqual([capture, dropped, trouble], ['all', 0, null])
  assert.match(String(file_size_formatted), /B$/)
})
