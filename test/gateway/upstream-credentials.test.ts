/** What each of several upstreams is sent, byte by byte: no credential of another, ever. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { untilHealth, untilWarned } from '../support/gateway-state.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { until } from '../support/reply-step.ts'
import { keys } from '../support/sample-keys.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams, untilUpstreams, writeUpstreams } from '../support/upstreams-file.ts'

const secret = 'c1ient-0wn-cred'
/** Headers by which clients of some upstream are known. */
const forms: readonly (readonly [name: string, value: string])[] = [
  ['Authorization', `Bearer ${secret}`],
  ['authorization', `Basic ${Buffer.from(`u:${secret}`).toString('base64')}`],
  ['x-api-key', secret],
  ['api-key', secret],
  ['X-Goog-Api-Key', secret],
  ['Ocp-Apim-Subscription-Key', secret],
  ['X-Amz-Security-Token', secret],
  ['Cookie', `a=1; session=${secret}`],
  ['cf-aig-authorization', `Bearer ${secret}`],
  ['helicone-auth', `Bearer ${secret}`],
  ['x-portkey-api-key', secret],
  ['X-Auth-Token', secret],
  ['x-custom-secret', secret],
  ['X-Pat', secret],
  ['x_pat', secret],
  ['private_key', secret],
  ['X-Passphrase', secret],
  ['Private-Token', secret],
  ['X-Bearer', secret],
  // A few of those that `src/secrets/key-shapes.test.ts` knows all of.
  ...Object.values(keys)
    .slice(0, 5)
    .map((key) => ['x-anything', key] as const),
]
const others = [
  ['Content-Type', 'application/json'],
  ['Accept', '*/*'],
  ['X-Trace', '  kept as it is'],
  ['x-session-id', 'a-session'],
  ['anthropic-version', '2023-06-01'],
] as const
const sentAlways = ['content-type', 'accept', 'x-trace', 'x-session-id', 'anthropic-version']

/** Names, in lower case, and values of what a request brought, without the framing's. */
function headersOf(upstream: SimulatedUpstream, index: number): readonly (readonly [string, string])[] {
  const raw = upstream.requests[index]?.rawHeaders ?? []
  return Array.from(
    { length: raw.length / 2 },
    (_, i) => [raw[2 * i]!.toLowerCase(), raw[2 * i + 1]!] as const,
  ).filter(([name]) => !['host', 'content-length', 'connection', 'via', 'transfer-encoding'].includes(name))
}

test('a client’s credentials go to the default upstream, and to others only where the file says so', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using none = await startSimulatedUpstream()
  await using client = await startSimulatedUpstream()
  await using own = await startSimulatedUpstream()
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: [
      { name: 'none', urls: [none.origin] },
      { name: 'client', urls: [client.origin], credentials: 'client' },
      { name: 'own', urls: [own.origin], credentials: { env: 'OWN_KEY', header: 'x-api-key' } },
    ],
    env: { OWN_KEY: 'key-of-own', UPSTREAM_API_KEY: 'key-of-default' },
  })
  for (const [index, form] of forms.entries()) {
    for (const [name, upstream] of Object.entries({
      '': byDefault,
      '/none': none,
      '/client': client,
      '/own': own,
    })) {
      const target = `${name}/v1/chat/completions?key=${secret}&a=b&access_token=${secret}`
      const headers = [others[0], form, ...others.slice(1)]
      const { status } = await exchange(gateway.port, 'POST', target, { headers, body: '{"model":"m"}' })
      assert.equal(status, 200)
      const got = headersOf(upstream, index)
      const isTheirs = name === '' || name === '/client'
      const expected = [
        others[0],
        ...(isTheirs ? [form] : []),
        ...others.slice(1),
        ...(name === '/own' ? [['x-api-key', 'key-of-own'] as const] : []),
        // Lent as ever, where the client brings nothing that counts as a credential.
        ...(name === '' && !/^(?:authorization|x-api-key|api-key)$/i.test(form[0])
          ? [['authorization', 'Bearer key-of-default'] as const]
          : []),
      ].map(([header, value]) => [header.toLowerCase(), value.trim()])
      assert.deepEqual(got, expected, `${name} ${form.join(': ')}`)
      const query = isTheirs ? `?key=${secret}&a=b&access_token=${secret}` : '?a=b'
      assert.equal(upstream.requests[index]?.target, `/v1/chat/completions${query}`)
      if (!isTheirs) assert.ok(!upstream.requests[index]?.headBytes.includes(secret))
    }
  }
  assert.deepEqual(
    headersOf(none, 0).map(([name]) => name),
    sentAlways,
  )
})

test('no parameter of a query that is a credential reaches an upstream of `none`, and all others do', async () => {
  await using none = await startSimulatedUpstream()
  await using gateway = await startGatewayOfUpstreams({
    upstream: none.origin,
    named: [{ name: 'none', urls: [none.origin] }],
  })
  const secrets = [
    'key',
    'KEY',
    'k%65y',
    'key[]',
    'key%5B0%5D',
    'auth[key]',
    'sig',
    'code',
    'pat',
    'access_token',
    'api-key',
    'X-Amz-Signature',
    'X-Goog-Credential',
    'client_secret',
    'private_key',
    'app_key',
    'passphrase',
    '+key',
  ]
  const open = ['a', 'api-version', 'max-keys', 'monkey', 'codec', 'sign', 'session-id', 'limit']
  for (const [at, sep] of ['&', ';'].entries()) {
    const pairs = secrets.flatMap((name, i) => [`${name}=${secret}`, `${open[i % open.length]}=%2F${i}`])
    await exchange(gateway.port, 'GET', `/none/v1/models?${pairs.join(sep)}`)
    const target = none.requests[at]?.target ?? ''
    assert.ok(!target.includes(secret), target)
    const kept = pairs.filter((pair) => !pair.includes(secret))
    assert.equal(target, `/v1/models?${kept.join(sep)}`)
  }
  await exchange(gateway.port, 'GET', '/none/v1/models?a=1&&b;c=%zz')
  assert.equal(none.requests[2]?.target, '/v1/models?a=1&&b;c=%zz')
})

test('no credential follows a call that falls back or is tried again', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using first = await startSimulatedUpstream({ reply: () => jsonReply(429, {}) })
  await using second = await startSimulatedUpstream({ reply: () => jsonReply(503, {}) })
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: [
      { name: 'first', urls: [first.origin], credentials: { env: 'FIRST_KEY' }, fallback: 'second' },
      { name: 'second', urls: [second.origin], credentials: { env: 'SECOND_KEY' }, fallback: 'default' },
    ],
    env: { FIRST_KEY: 'key-of-first', SECOND_KEY: 'key-of-second' },
    args: ['--retry-429-max', '1'],
  })
  const headers = [['Authorization', `Bearer ${secret}`]] as const
  const answer = await exchange(gateway.port, 'POST', '/first/v1/chat/completions', {
    headers,
    body: '{"model":"m"}',
  })
  assert.deepEqual([answer.status, answer.header('x-tokenweir-upstream')], [200, 'default'])
  assert.equal(first.requests.length, 2)
  for (const index of [0, 1])
    assert.deepEqual(headersOf(first, index), [['authorization', 'Bearer key-of-first']])
  assert.deepEqual(headersOf(second, 0), [['authorization', 'Bearer key-of-second']])
  assert.deepEqual(headersOf(byDefault, 0), [['authorization', `Bearer ${secret}`]])
})

test('the list of all models is asked for with the gateway’s keys where the client’s is empty', async () => {
  const listing = { reply: () => jsonReply(200, { data: [] }) }
  await using byDefault = await startSimulatedUpstream(listing)
  await using own = await startSimulatedUpstream(listing)
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: [{ name: 'own', urls: [own.origin], credentials: { env: 'OWN_KEY' } }],
    env: { OWN_KEY: 'key-of-own', UPSTREAM_API_KEY: 'key-of-default' },
  })
  const headers = [
    ['Authorization', 'Bearer '],
    ['x-api-key', ''],
  ] as const
  const { status } = await exchange(gateway.port, 'GET', '/v1/models', { headers })
  assert.equal(status, 200)
  const credentialsAt = (upstream: SimulatedUpstream) =>
    headersOf(upstream, 0).filter(([name]) => name === 'authorization' || name === 'x-api-key')
  assert.deepEqual(credentialsAt(byDefault), [['authorization', 'Bearer key-of-default']])
  assert.deepEqual(credentialsAt(own), [['authorization', 'Bearer key-of-own']])
})

test('an upstream that the gateway has a key for gets no other in that header, however it is named', async () => {
  await using own = await startSimulatedUpstream()
  await using gateway = await startGatewayOfUpstreams({
    upstream: own.origin,
    named: [{ name: 'own', urls: [own.origin], credentials: { env: 'OWN_KEY', header: 'x-own' } }],
    env: { OWN_KEY: 'key-of-own' },
  })
  for (const host of ['localhost', 'elsewhere.test'])
    await exchange(gateway.port, 'POST', '/own/v1/chat/completions', {
      headers: [['X-Own', secret]],
      host,
      body: '{"model":"m"}',
    })
  assert.deepEqual([headersOf(own, 0), headersOf(own, 1)], [[['x-own', 'key-of-own']], []])
})

test('a call that waits while its upstream gets a key goes with that key, and without its client’s', async () => {
  const ends = Promise.withResolvers<void>()
  await using own = await startSimulatedUpstream({
    reply: () => [until(ends.promise), ...jsonReply(200, { choices: [{}] })],
  })
  const setting = { name: 'own', urls: [own.origin], max_concurrent: 1 }
  await using gateway = await startGatewayOfUpstreams({
    upstream: own.origin,
    named: [{ ...setting, credentials: 'client' }],
  })
  const call = () =>
    exchange(gateway.port, 'POST', '/own/v1/chat/completions', {
      body: '{"model":"m"}',
      headers: [['Authorization', `Bearer ${secret}`]],
    })
  const first = call()
  await own.waitForInFlight(1)
  const second = call()
  await untilUpstreams(gateway, 'the second waits', (all) => all[1]?.rate_limiter['queued'] === 1)
  writeUpstreams(gateway.directory, [{ ...setting, credentials: { file: 'own.key' } }])
  await untilWarned(gateway, /upstream_key_missing/)
  writeFileSync(`${gateway.directory}/own.key`, 'key-of-own')
  await untilHealth(gateway, 'the key is there', ({ status }) => status === 'ok')
  ends.resolve()
  await Promise.all([first, second])
  assert.deepEqual(
    [0, 1].map((index) => headersOf(own, index).filter(([name]) => name === 'authorization')),
    [[['authorization', `Bearer ${secret}`]], [['authorization', 'Bearer key-of-own']]],
  )
})

test('a key is lent to this machine alone, and one that is missing is told', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using own = await startSimulatedUpstream()
  const named = (key: object) => [{ name: 'own', urls: [own.origin], credentials: key as { env: string } }]
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.origin,
    named: named({ file: 'own.key' }),
    env: { TOKENWEIR_ADMIN_TOKEN: 'an-admin-token-of-some-length' },
  })
  const missing = /^upstream_key_missing: .*The upstream own gets no key: its file cannot be read/
  await untilWarned(gateway, missing)
  assert.equal((await gateway.health())['status'], 'degraded')
  writeFileSync(`${gateway.directory}/own.key`, 'key-of-own\n')
  await untilHealth(gateway, 'the key is there', ({ status }) => status === 'ok')
  const call = async (...headers: [string, string][]) => {
    await exchange(gateway.port, 'POST', '/own/v1/chat/completions', { headers, body: '{"model":"m"}' })
    return headersOf(own, own.requests.length - 1).filter(([name]) => name === 'authorization')
  }
  const lent = [['authorization', 'Bearer key-of-own']]
  assert.deepEqual(await call(), lent)
  // From a page of another site, and through somebody's proxy.
  assert.deepEqual(await call(['Origin', 'http://evil.test'], ['Sec-Fetch-Site', 'cross-site']), [])
  assert.deepEqual(await call(['X-Forwarded-For', '10.0.0.1']), [])
  const token: [string, string] = ['x-tokenweir-admin-token', 'an-admin-token-of-some-length']
  assert.deepEqual(await call(['X-Forwarded-For', '10.0.0.1'], token), lent)
  // Another key in the file is the one from then on.
  writeFileSync(`${gateway.directory}/own.key`, 'another-key\n')
  writeUpstreams(gateway.directory, named({ file: 'missing.key' }))
  await untilWarned(gateway, missing)
  assert.deepEqual(await call(), [])
})
