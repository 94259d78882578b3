/** Upstreams set, tested and taken away by command and by the dashboard's API, with the real gateway behind. */
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { UpstreamsReport } from '../../src/api/upstreams.ts'
import { startCommandProcess } from '../support/command-process.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { eventually } from '../support/eventually.ts'
import { fieldsOf } from '../support/fields-of.ts'
import { freePort } from '../support/free-port.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

async function upstreams(
  { directory }: DashboardProcess,
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<{ readonly code: number | null; readonly said: string }> {
  await using command = startCommandProcess({ args: ['upstreams', ...args], directory, env })
  const { code } = await command.exited
  return { code, said: command.stdout + command.stderr }
}

async function report(answer: Promise<Response>): Promise<UpstreamsReport> {
  return (await (await answer).json()) as UpstreamsReport
}

const models = (...ids: string[]) => ({
  reply: () => jsonReply(200, { object: 'list', data: ids.map((id) => ({ id })) }),
})

test('upstreams are added, changed, tested and removed by command; the gateway goes by it at once, and has their keys', async () => {
  await using byDefault = await startSimulatedUpstream(models('gpt'))
  await using local = await startSimulatedUpstream(models('llama-3', 'other'))
  const nobody = await freePort()
  const env = { LOCAL_KEY: 'key-of-local' }
  await using dashboard = await startDashboardProcess({ args: ['--upstream', byDefault.baseUrl], env })
  assert.equal((await dashboard.ask('POST', '/api/proxy/start')).status, 200)
  const added = await upstreams(dashboard, env, 'add', 'local', '--url', local.origin, '--model', 'llama*')
  assert.equal(added.code, 0, added.said)
  assert.match(added.said, /local: calls of llama\*, and under \/local\/ go to .*credentials: none/)
  assert.equal(statSync(`${dashboard.directory}/data/upstreams.json`).mode & 0o777, 0o600)

  // The variable came with the dashboard, which did not know of it when it started the gateway: a restart brings it along.
  const keyed = await upstreams(
    dashboard,
    env,
    'set',
    'local',
    '--key-env',
    'LOCAL_KEY',
    '--max-concurrent',
    '2',
  )
  assert.match(
    keyed.said,
    /2 slots; credentials: \$LOCAL_KEY\n.*local gets no key: the variable LOCAL_KEY is not set; .* and restart the gateway/,
  )
  assert.equal((await dashboard.ask('POST', '/api/proxy/restart')).status, 200)
  const { port } = await dashboard.status()
  // One that takes longer than two seconds to tell its models is left out.
  await eventually('the models of both', async () => {
    const list = await fetch(`http://127.0.0.1:${port}/v1/models`)
    const { data } = (await list.json()) as { data: { id: string }[] }
    return isDeepStrictEqual(
      data.map(({ id }) => id),
      ['gpt', 'llama-3'],
    )
  })
  assert.equal(local.requests.at(-1)?.header('authorization'), 'Bearer key-of-local')
  assert.ok(!readFileSync(`${dashboard.directory}/data/upstreams.json`, 'utf8').includes('key-of-local'))

  const listed = await upstreams(dashboard, env)
  assert.match(listed.said, /^default +http.*\n^local +http.* llama\* +\$LOCAL_KEY +.*up +0 +2 +0$/m)
  const good = await upstreams(dashboard, env, 'test', 'local')
  assert.equal(good.code, 0, good.said)
  assert.match(good.said, /✓ local +http.*answers in .* 2 models · 1 by its patterns · llama-3/)
  const away = `http://127.0.0.1:${nobody}`
  await upstreams(dashboard, env, 'set', 'local', '--url', local.origin, '--url', away)
  const bad = await upstreams(dashboard, env, 'test')
  assert.equal(bad.code, 1)
  assert.match(bad.said, /✗ local .*nothing listens there/)

  for (const [args, words] of [
    [['add', 'local', '--url', 'http://h'], /upstream local exists/],
    [['add', 'b', '--url', `http://localhost:${port}`], /leads back to this gateway/],
    [['add', 'v1', '--url', 'http://h'], /cannot be v1/],
    [['set', 'b', '--model', 'm'], /no upstream b/],
    [['set', 'local'], /nothing to change/],
    [['set', 'local', '--key-env', 'A', '--credentials', 'client'], /one of --credentials/],
    [['set', 'local', '--fallback', 'b'], /names an unknown upstream: b; known are default/],
    [['test', 'b'], /no upstream b/],
  ] as const) {
    const refused = await upstreams(dashboard, env, ...args)
    assert.equal(refused.code, 2, refused.said)
    assert.match(refused.said, words)
  }
  assert.equal((await upstreams(dashboard, env, 'remove', 'local')).code, 0)
  const { upstreams: left } = await report(dashboard.ask('GET', '/api/upstreams'))
  assert.deepEqual(fieldsOf(left, 'name'), ['default'])
})

test('the dashboard sets upstreams, and has no key sent anywhere', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess({ args: ['--upstream', byDefault.baseUrl] })
  await dashboard.ask('POST', '/api/proxy/start')
  const put = (name: string, body: object) => dashboard.ask('PUT', `/api/upstreams/${name}`, body)
  const { upstreams: set, file } = await report(
    put('local', { urls: ['http://127.0.0.1:9'], models: ['l*'], max_concurrent: 3 }),
  )
  assert.equal(set[1]?.max_concurrent, 3)
  // The answer does not wait for a gateway that takes its time.
  await eventually('the gateway to go by it', async () => {
    const { upstreams: now } = await report(dashboard.ask('GET', '/api/upstreams'))
    return now[1]?.health?.rate_limiter.max_concurrent === 3
  })
  assert.equal(file, `${dashboard.directory}/data/upstreams.json`)
  const changed = await report(put('local', { max_concurrent: null, fallback: 'default' }))
  assert.deepEqual([changed.upstreams[1]?.max_concurrent, changed.upstreams[1]?.fallback], [null, 'default'])

  const codeOf = async (answer: Promise<Response>): Promise<[number, unknown]> => {
    const { status, ...rest } = await answer.then(async (each) => ({
      status: each.status,
      body: await each.json(),
    }))
    return [status, (rest.body as { error: { code: unknown } }).error.code]
  }
  await upstreams(dashboard, {}, 'set', 'local', '--key-env', 'A_KEY')
  assert.deepEqual(await codeOf(put('local', { urls: ['http://10.0.0.1'] })), [403, 'key_not_lent'])
  assert.deepEqual(await codeOf(put('other', { urls: ['http://h'], credentials: { env: 'HOME' } })), [
    403,
    'key_not_lent',
  ])
  assert.deepEqual(await codeOf(put('other', { urls: ['http://h'], models: ['l*'] })), [
    400,
    'invalid_upstream',
  ])
  assert.deepEqual(await codeOf(put('other', {})), [400, 'invalid_upstream'])
  assert.deepEqual(await codeOf(dashboard.ask('DELETE', '/api/upstreams/other')), [404, 'upstream_not_found'])
  // Without its key it may go elsewhere.
  const moved = await report(put('local', { urls: ['http://127.0.0.1:10'], credentials: 'none' }))
  assert.deepEqual(moved.upstreams[1]?.urls, ['http://127.0.0.1:10'])
  assert.equal((await report(dashboard.ask('DELETE', '/api/upstreams/local'))).upstreams.length, 1)
})
