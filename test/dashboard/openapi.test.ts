import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import openapiTS, { astToString } from 'openapi-typescript'
import { apiDocuments } from '../../build/openapi.ts'
import { namedFields } from '../../src/call/fields/call-fields.ts'
import { namedFilters } from '../../src/call/call-filter.ts'
import { failureKinds } from '../../src/call/failure.ts'
import { errorStatuses } from '../../src/dashboard/http/request-error.ts'
import { expectDocumented } from '../support/documented.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { asRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startDashboard } from './dashboard-under-test.ts'

const built = apiDocuments()
const { paths, components } = built['openapi.json']!
const repository = fileURLToPath(new URL('../..', import.meta.url))

test('the document of the dashboard has every route, each with a schema of what it answers, and no other', async () => {
  await using dashboard = await startDashboard()
  const routes = Object.keys(dashboard.server.routes).map((route) => route.replaceAll(/:(\w+)/g, '{$1}'))
  const told = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(told.sort(), routes.sort())
  const names = new Set<string>()
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { operationId, responses }] of Object.entries(operations)) {
      const answers = Object.entries(responses).filter(([status]) => Number(status) < 400)
      assert.ok(answers.length > 0, path)
      for (const [status, response] of answers) {
        const contents = Object.values(asRecord(asRecord(response)['content']))
        assert.equal(contents.length > 0, status !== '204', `${method} ${path}: ${status}`)
        for (const content of contents) {
          assert.ok(Object.keys(asRecord(asRecord(content)['schema'])).length > 0, `${method} ${path}`)
        }
      }
      assert.ok(!names.has(operationId), operationId)
      names.add(operationId)
    }
  }
})

test('both documents are served as the build wrote them, of the routes as they are', async () => {
  await using dashboard = await startDashboard()
  const targets = { '/openapi.json': 'openapi.json', '/openapi/gateway.json': 'openapi-gateway.json' }
  for (const [target, name] of Object.entries(targets)) {
    const answer = await dashboard.ask('GET', target)
    assert.equal(answer.status, 200)
    assert.match(answer.header('content-type') ?? '', /^application\/json/)
    const isSame = JSON.stringify(JSON.parse(answer.body.toString())) === JSON.stringify(built[name])
    assert.ok(isSame, `dist/${name} is of other sources: npm run build:openapi`)
  }
})

test('a call has all its fields, a query all filters, and an error all codes', () => {
  const members = (name: string): string[] => Object.keys(asRecord(components.schemas[name]?.['properties']))
  const fields = ['id', 'started_at', ...namedFields.map(({ name }) => name)]
  assert.deepEqual(members('CallJson').sort(), fields.sort())
  const query = paths['/api/query']!['get'] as unknown as { readonly parameters: readonly { name: string }[] }
  const parameters = new Set(query.parameters.map(({ name }) => name))
  for (const { name } of namedFilters) assert.ok(parameters.has(name), name)
  const text = JSON.stringify(components.schemas['ErrorBody'])
  for (const code of Object.keys(errorStatuses)) assert.ok(text.includes(`"${code}"`), code)
  const ofGateway = JSON.stringify(built['openapi-gateway.json']!.components.schemas['OwnError'])
  for (const [code, { status }] of Object.entries(failureKinds)) {
    assert.equal(ofGateway.includes(`"${code}"`), status !== null, code)
  }
})

/** Uses what is generated as a person would; with a wrong type anywhere it would not compile. */
const client = `
import type { components, operations, paths } from './api.ts'
import type { paths as gatewayPaths } from './gateway.ts'

type Status = paths['/api/proxy/status']['get']['responses'][200]['content']['application/json']
export const slots = ({ state, health }: Status): number =>
  state === 'running' && health !== null ? health.rate_limiter.max_concurrent : 0
type Query = operations['getQuery']['parameters']['query']
export const asked: Query = { model: ['a'], outcome: ['ok', 'refused'], limit: 5, group_by: 'hour,model' }
export const cost = (call: components['schemas']['CallJson']): number | null => call.cost_usd
export const code = (body: components['schemas']['ErrorBody']): 'not_running' | null =>
  body.error.code === 'not_running' ? body.error.code : null
type Switch = gatewayPaths['/v1/raw-log/toggle']['post']['requestBody']
export const on: Switch = { content: { 'application/json': { enabled: true, for_s: 60 } } }
// @ts-expect-error: there is no such outcome
export const wrong: Query = { outcome: ['fine'] }
`

test('a client that is generated from the documents compiles', async () => {
  await using folder = await makeTempDir()
  const names = { 'openapi.json': 'api.ts', 'openapi-gateway.json': 'gateway.ts' }
  for (const [name, file] of Object.entries(names)) {
    const ast = await openapiTS(await readFile(`${repository}dist/${name}`, 'utf8'))
    await writeFile(folder.file(file), astToString(ast))
  }
  await writeFile(folder.file('client.ts'), client)
  const options =
    '--ignoreConfig --noEmit --strict --module nodenext --allowImportingTsExtensions --types'.split(' ')
  const compiler = `${repository}node_modules/typescript/bin/tsc`
  const run = promisify(execFile)(process.execPath, [compiler, ...options, '', folder.file('client.ts')])
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  assert.equal(stdout, '')
})

test('the gateway answers its own routes as its document says', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl, args: ['--raw-log'] })
  const origin = new URL(gateway.baseUrl).origin
  await (await fetch(`${gateway.baseUrl}/chat/completions`, { method: 'POST', body: '{"model":"m"}' })).text()
  const ask = async (method: string, target: string, body?: string): Promise<number> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${origin}${target}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const given = { method, target, status: answer.status, body: await answer.text() }
    expectDocumented({ ...given, contentType: answer.headers.get('content-type') }, 'openapi-gateway.json')
    return answer.status
  }
  assert.equal(await ask('GET', '/health'), 200)
  assert.equal(await ask('GET', '/'), 200)
  assert.equal(await ask('GET', '/v1/raw-log/status'), 200)
  assert.equal(await ask('GET', '/v1/raw-log/recent?limit=3'), 200)
  assert.equal(await ask('GET', '/v1/raw-log/recent?limit=0'), 400)
  assert.equal(await ask('POST', '/v1/raw-log/toggle', '{"enabled":true,"for_s":60}'), 200)
  assert.equal(await ask('POST', '/v1/raw-log/toggle', '{}'), 400)
  assert.equal(await ask('POST', '/v1/raw-log/clear'), 200)
})

test('an answer that the document does not tell of is noticed', () => {
  const answer = { method: 'GET', target: '/api/db', contentType: 'application/json' }
  const others = '"disk_free_bytes":null,"growth_bytes_per_day":null,"disk_full_at":null'
  expectDocumented({ ...answer, status: 200, body: `{"file":"/a.db","bytes":null,${others}}` })
  const wrong: readonly (readonly [status: number, body: string])[] = [
    [200, `{"file":"/a.db",${others}}`],
    [200, `{"file":"/a.db","bytes":"1",${others}}`],
    [200, `{"file":"/a.db","bytes":1,${others},"more":true}`],
    [204, ''],
    [404, '{"error":"no"}'],
    [409, '{"error":{"code":"strange","message":"","param":null}}'],
    [409, '{"error":{"code":"job_running","message":"","param":null}}'],
  ]
  for (const [status, body] of wrong) {
    assert.throws(() => expectDocumented({ ...answer, status, body }), { name: 'AssertionError' }, body)
  }
})
