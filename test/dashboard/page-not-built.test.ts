import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { makeGuard } from '../../src/dashboard/http/guard.ts'
import { readPage } from '../../src/dashboard/http/page-assets.ts'
import { makeApp } from '../../src/dashboard/http/app.ts'
import { pageRoutes } from '../../src/dashboard/routes/page-routes.ts'
import { ThisMachine } from '../../src/lib/this-machine.ts'

test('where the page was not built, it says how to', async () => {
  const assets = readPage(new URL('no-such-folder/', import.meta.url))
  const rules = { demandsToken: false, allowedHosts: [], openPaths: new Set<string>() }
  const guard = makeGuard(rules, new ThisMachine(true), null)
  const app = makeApp(pageRoutes(assets, guard, null), {
    isClosing: () => false,
    onFault: (error) => assert.fail(String(error)),
  })
  const server = createServer((req, res) => void app(req, res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  for (const path of ['/', '/calls', '/assets/main.js']) {
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}${path}`)
    assert.equal(answer.status, 503, path)
    assert.match(await answer.text(), /"page_not_built".*npm run build:page/, path)
  }
  server.closeAllConnections()
  server.close()
})
