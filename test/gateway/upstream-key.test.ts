import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type RequestParts, exchange } from '../support/exchange.ts'
import { filesBelow } from '../support/files-below.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { jsonReply } from '../support/response-bytes.ts'

const key = 'sk-lent-4f1d0c9b8a7e6d5c'
const adminToken = 'admin-81b0a2c3d4e5f607'
const { upstream, gateway } = await startGatewayOfFile({
  env: { UPSTREAM_API_KEY: key, TOKENWEIR_ADMIN_TOKEN: adminToken },
})

let asked = 0

/** The values of `Authorization` that the upstream sees. */
async function authorizationOf(parts: RequestParts): Promise<readonly string[]> {
  const response = await exchange(gateway.port, 'POST', '/v1/chat/completions', {
    body: '{"model":"m"}',
    ...parts,
  })
  assert.equal(response.status, 200)
  asked++
  const { rawHeaders } = upstream.requests.at(-1)!
  return rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === 'authorization')
}

test('it is lent to a request from this machine that brings no credential', async () => {
  for (const host of ['localhost', 'localhost:9090', '127.0.0.1:9090', '[::1]:9090', 'weir.localhost']) {
    assert.deepEqual(await authorizationOf({ host }), [`Bearer ${key}`], host)
  }
  const sameOrigin = [['Origin', 'http://localhost:9090']] as const
  assert.deepEqual(await authorizationOf({ host: 'localhost:9090', headers: sameOrigin }), [`Bearer ${key}`])
  for (const site of ['none', 'same-origin']) {
    assert.deepEqual(await authorizationOf({ headers: [['Sec-Fetch-Site', site]] }), [`Bearer ${key}`])
  }
})

test('an empty credential, as a shell sends it for a variable that is not set, is none: the key takes its place', async () => {
  for (const value of ['', 'Bearer', 'Bearer ', 'bearer']) {
    assert.deepEqual(await authorizationOf({ headers: [['authorization', value]] }), [`Bearer ${key}`], value)
  }
  const empty = [
    ['x-api-key', ''],
    ['Authorization', 'Bearer '],
  ] as const
  assert.deepEqual(await authorizationOf({ headers: empty }), [`Bearer ${key}`])
  assert.equal(upstream.requests.at(-1)!.header('x-api-key'), undefined)
  const besideOwn = [...empty, ['api-key', 'own']] as const
  assert.deepEqual(await authorizationOf({ headers: besideOwn }), ['Bearer'], 'it passes beside a key')
  const elsewhere = [...empty, ['X-Forwarded-For', '10.0.0.1']] as const
  assert.deepEqual(
    await authorizationOf({ headers: elsewhere }),
    ['Bearer'],
    'it passes where no key is added',
  )
})

test('it is lent to whoever brings the admin token, from anywhere, and the token goes no further', async () => {
  const withToken = [['x-tokenweir-admin-token', adminToken]] as const
  const foreign = [...withToken, ['X-Forwarded-For', '10.0.0.1']] as const
  assert.deepEqual(await authorizationOf({ host: 'weir.lan:9090', headers: foreign }), [`Bearer ${key}`])
  assert.doesNotMatch(upstream.requests.at(-1)!.rawHeaders.join(' '), new RegExp(`${adminToken}|admin-token`))
  const wrong = [['x-tokenweir-admin-token', `${adminToken}x`]] as const
  assert.deepEqual(await authorizationOf({ host: 'weir.lan:9090', headers: wrong }), [])
  const own = [...withToken, ['Authorization', 'Bearer own']] as const
  assert.deepEqual(await authorizationOf({ headers: own }), ['Bearer own'])
})

test('it is not lent under a name that is not of this machine, nor without one', async () => {
  for (const host of ['evil.example', 'weir.lan:9090', '192.168.1.20:9090', 'localhost.evil.example']) {
    assert.deepEqual(await authorizationOf({ host }), [], host)
  }
  assert.deepEqual(await authorizationOf({ host: null, httpVersion: '1.0' }), [])
})

test('it is not lent to a page of another site, nor through a proxy', async () => {
  for (const headers of [
    [['Origin', 'https://evil.example']],
    [['Origin', 'null']],
    [['Origin', 'http://localhost:3000']],
    [['Sec-Fetch-Site', 'cross-site']],
    [['Sec-Fetch-Site', 'same-site']],
    [['X-Forwarded-For', '203.0.113.7']],
    [['Forwarded', 'for=203.0.113.7']],
    [['X-Real-IP', '203.0.113.7']],
    [['X-Forwarded-Host', 'weir.example']],
    [['X-Forwarded-Proto', 'https']],
    [['Via', '1.1 nginx']],
  ] as const) {
    assert.deepEqual(await authorizationOf({ headers }), [], headers.join(' '))
  }
})

test('Connection cannot name it, nor the header by which it would be refused', async () => {
  const strip = [['Connection', 'authorization']] as const
  assert.deepEqual(await authorizationOf({ headers: strip }), [`Bearer ${key}`])
  const hidden = [
    ['Connection', 'X-Forwarded-For, Authorization'],
    ['X-Forwarded-For', '203.0.113.7'],
    ['Authorization', 'Bearer own'],
  ] as const
  assert.deepEqual(await authorizationOf({ headers: hidden }), [])
})

test('it appears nowhere: not in the output, the report, the rows or any file', async () => {
  const echoed = { error: { message: `Incorrect API key provided: ${key}.`, code: 'invalid_api_key' } }
  upstream.replyOnce(jsonReply(401, echoed))
  const refused = await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  asked++
  assert.ok(refused.body.includes(key), 'the answer itself is not touched')
  const rows = await recordedCalls(gateway, asked)
  assert.equal(rows.at(-1)!.upstream_error_code, 'invalid_api_key')
  assert.match(rows.at(-1)!.error_message ?? '', /Incorrect API key provided: \[secret\]/)
  assert.equal(rows[0]!.key_fingerprint, null, 'a lent key says nothing about the client')
  assert.ok(!JSON.stringify([rows, await gateway.health()]).includes(key))
  assert.match(gateway.stdout, /use UPSTREAM_API_KEY/)
  assert.ok(!(gateway.stdout + gateway.stderr).includes(key))
  for (const { name, bytes } of await filesBelow(gateway.directory)) {
    assert.ok(!bytes.includes(key) && !bytes.includes(adminToken), name)
  }
})

test('without it nothing is added, and nothing is said', async () => {
  await using bare = await startGatewayProcess({ upstream: upstream.origin, env: { UPSTREAM_API_KEY: '' } })
  await exchange(bare.port, 'POST', '/v1/chat/completions', { body: '{}' })
  assert.equal(upstream.requests.at(-1)!.header('authorization'), undefined)
  assert.doesNotMatch(bare.stdout, /is lent/)
})

test('a stranger may guess the admin token a few times a minute, and keeps nobody of this machine out', async () => {
  await using guarded = await startGatewayProcess({
    upstream: upstream.origin,
    env: { TOKENWEIR_ADMIN_TOKEN: adminToken },
    args: ['--trust-loopback', 'off'],
  })
  const ask = async (token: string, ...headers: (readonly [string, string])[]): Promise<number> => {
    const shown = [['x-tokenweir-admin-token', token], ...headers] as const
    return (await exchange(guarded.port, 'GET', '/v1/raw-log/status', { host: 'localhost', headers: shown }))
      .status
  }
  const forwarded = ['X-Forwarded-For', '10.0.0.1'] as const
  assert.equal(await ask(adminToken, forwarded), 200)
  for (let i = 0; i < 10; i++) assert.equal(await ask(`${adminToken}${i}`, forwarded), 403)
  assert.equal(await ask(adminToken, forwarded), 403)
  assert.equal(await ask(adminToken), 200)
})
