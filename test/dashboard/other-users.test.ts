import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cannotActAsOthers, curl, nobodysId } from '../support/curl.ts'
import { adminToken, startDashboard } from './dashboard-under-test.ts'

const asJson = ['--header', 'Content-Type: application/json', '--data']
const asked: readonly (readonly [path: string, options: readonly string[]])[] = [
  ['/', []],
  ['/api/proxy/status', []],
  ['/api/query', []],
  ['/api/events?topics=log', []],
  ['/api/raw-log/recent', []],
  ['/api/proxy/config', ['--request', 'PUT', ...asJson, '{"upstream":"http://evil.example"}']],
  ['/api/proxy/stop', [...asJson, '{}']],
]

for (const token of [null, adminToken]) {
  const having = token === null ? 'no admin token is set' : 'there is an admin token'
  test(`another user of the machine is not let in where ${having}`, { skip: cannotActAsOthers }, async () => {
    await using dashboard = await startDashboard({ adminToken: token })
    const origin = `http://127.0.0.1:${dashboard.port}`
    for (const [path, options] of asked) {
      const { status, body } = await curl(origin + path, options, nobodysId)
      assert.equal(status, token === null ? 403 : 401, path)
      // A page on which to sign in is for anybody.
      if (token === null || path !== '/') assert.match(body, /admin token/)
    }
    assert.deepEqual([dashboard.gateway.asked, dashboard.rawLog.asked], [[], []])
    const header = ['--header', `x-tokenweir-admin-token: ${adminToken}`]
    const { status } = await curl(`${origin}/api/proxy/status`, header, nobodysId)
    assert.equal(status, token === null ? 403 : 200)
    assert.equal((await curl(`${origin}/api/proxy/status`)).status, 200, 'our own user needs none')
  })
}

test('what seems to come through a proxy is not let in', async () => {
  await using dashboard = await startDashboard({ adminToken })
  const url = `http://127.0.0.1:${dashboard.port}/api/proxy/status`
  const proxied = ['CF-Connecting-IP', 'True-Client-IP', 'X-Client-IP', 'X-Envoy-External-Address']
  for (const sign of [['--http1.0'], ...proxied.map((name) => ['--header', `${name}: 203.0.113.7`])]) {
    assert.equal((await curl(url, sign)).status, 401, sign.join(' '))
  }
})
