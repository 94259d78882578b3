import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fastify } from 'fastify'
import { answerErrors } from '../../src/dashboard/http/answer-errors.ts'
import { Guard } from '../../src/dashboard/http/guard.ts'
import { ThisMachine } from '../../src/lib/this-machine.ts'
import { PageAssets } from '../../src/dashboard/http/page-assets.ts'
import { addPageRoutes } from '../../src/dashboard/routes/page-routes.ts'

test('where the page was not built, it says how to', async () => {
  const assets = new PageAssets(new URL('no-such-folder/', import.meta.url))
  const rules = { demandsToken: false, allowedHosts: [], openPaths: new Set<string>() }
  const app = fastify()
  answerErrors(app, (error) => assert.fail(String(error)))
  addPageRoutes(app, { assets, guard: new Guard(rules, new ThisMachine(true), null), signIn: null })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  for (const path of ['/', '/calls', '/assets/main.js']) {
    const answer = await fetch(origin + path)
    assert.equal(answer.status, 503, path)
    assert.match(await answer.text(), /"page_not_built".*npm run build:page/, path)
  }
  await app.close()
})
