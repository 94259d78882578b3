import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { cannotActAsOthers, curl, nobodysId } from '../support/curl.ts'
import { startGatewayOfFile } from '../support/gateway-of-file.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { parseRecord } from '../support/json-record.ts'
import { rawLogOf } from '../support/raw-log.ts'

const key = 'sk-lent-0a1b2c3d4e5f6071'
const adminToken = 'the-admin-token-of-this-test'
const { upstream, gateway } = await startGatewayOfFile({
  args: ['--raw-log'],
  env: { UPSTREAM_API_KEY: key, TOKENWEIR_ADMIN_TOKEN: adminToken },
})
const log = rawLogOf(gateway)
const routes: readonly (readonly [method: string, name: string])[] = [
  ['GET', 'status'],
  ['POST', 'toggle'],
  ['GET', 'recent'],
  ['POST', 'clear'],
  ['GET', 'stream'],
]
const asJson = ['--header', 'Content-Type: application/json', '--data', '{"enabled":false}']
const withToken = ['--header', `x-tokenweir-admin-token: ${adminToken}`]

/** The credential with which the upstream saw a call that brings none. */
async function lent(options: readonly string[] = [], userId?: number): Promise<string | undefined> {
  const body = ['--data', '{"model":"m"}']
  const { status } = await curl(`${gateway.baseUrl}/chat/completions`, [...body, ...options], userId)
  assert.equal(status, 200)
  return upstream.requests.at(-1)!.header('authorization')
}

test('our own user is let in, over IPv4 and with curl as with any other program', async () => {
  assert.equal((await curl(`${gateway.baseUrl}/raw-log/status`)).status, 200)
  assert.equal(await lent(), `Bearer ${key}`)
  const { pid } = parseRecord((await curl(`${gateway.origin}/health`)).body)
  assert.equal(pid, gateway.pid)
})

test('another user of the machine sees and switches nothing', { skip: cannotActAsOthers }, async () => {
  for (const [method, name] of routes) {
    const options = method === 'POST' ? asJson : []
    const { status, body } = await curl(`${gateway.baseUrl}/raw-log/${name}`, options, nobodysId)
    assert.equal(status, 403, `${method} ${name}`)
    assert.match(body, /x-tokenweir-admin-token/)
  }
  assert.equal((await log.status())['enabled'], true)
})

test('another user is lent no key, but for the admin token', { skip: cannotActAsOthers }, async () => {
  assert.equal(await lent([], nobodysId), undefined)
  assert.equal(await lent(['--header', 'Authorization: Bearer own'], nobodysId), 'Bearer own')
  assert.equal(await lent(withToken, nobodysId), `Bearer ${key}`)
  assert.equal((await curl(`${gateway.baseUrl}/raw-log/status`, withToken, nobodysId)).status, 200)
})

test('another user who closes at once does not pass for root', { skip: cannotActAsOthers }, async () => {
  const body = '{"enabled":false}'
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  const script = `exec 3<>/dev/tcp/127.0.0.1/${gateway.port} && printf %s "$1" >&3`
  for (let round = 0; round < 30; round++) {
    const bytes = `POST /v1/raw-log/toggle HTTP/1.1\r\n${head}\r\n\r\n${body}`
    const as = { uid: nobodysId, gid: nobodysId, cwd: '/', stdio: 'ignore' } as const
    const [code] = (await once(spawn('bash', ['-c', script, 'toggle', bytes], as), 'close')) as [number]
    assert.equal(code, 0)
    assert.equal((await log.status())['enabled'], true, `round ${round}`)
  }
})

test('the report tells strangers no more than that all is well', { skip: cannotActAsOthers }, async () => {
  for (const path of ['/', '/health']) {
    const { status, body } = await curl(gateway.origin + path, [], nobodysId)
    const report = parseRecord(body)
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(report), ['status', 'upstream', 'db', 'rate_limiter', 'token_budget'])
    assert.deepEqual([report['upstream'], report['db']], [upstream.origin, 'telemetry.db'])
  }
  const { pid } = parseRecord((await curl(`${gateway.origin}/health`, withToken, nobodysId)).body)
  assert.equal(pid, gateway.pid)
})

test('HTTP/1.0 and the headers of proxies need the token', async () => {
  const proxied = ['CF-Connecting-IP', 'True-Client-IP', 'X-Client-IP', 'X-Envoy-External-Address']
  const signs = [['--http1.0'], ...proxied.map((name) => ['--header', `${name}: 203.0.113.7`])]
  for (const sign of signs) {
    assert.equal((await curl(`${gateway.baseUrl}/raw-log/status`, sign)).status, 403, sign.join(' '))
    assert.equal((await curl(`${gateway.baseUrl}/raw-log/status`, [...sign, ...withToken])).status, 200)
    assert.equal(await lent(sign), undefined)
    assert.equal('pid' in parseRecord((await curl(`${gateway.origin}/health`, sign)).body), false)
  }
})

test('--trust-loopback off asks everybody for the token', async () => {
  await using strict = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--trust-loopback', 'off'],
    env: { UPSTREAM_API_KEY: key, TOKENWEIR_ADMIN_TOKEN: adminToken },
  })
  for (const [options, status, sent] of [
    [[], 403, undefined],
    [withToken, 200, `Bearer ${key}`],
  ] as const) {
    assert.equal((await curl(`${strict.baseUrl}/raw-log/status`, options)).status, status)
    await curl(`${strict.baseUrl}/chat/completions`, [...options, '--data', '{"model":"m"}'])
    assert.equal(upstream.requests.at(-1)!.header('authorization'), sent)
  }
  assert.match(strict.stdout, /calls with the admin token without a key of their own use UPSTREAM_API_KEY/)
})
