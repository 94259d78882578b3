import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ClientsReport } from '../../src/api/clients.ts'
import { exchange } from '../support/exchange.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import { untilStill } from './dashboard-page.ts'
import { openGatewayView } from './gateway-view.ts'

test('clients: what is in use is shown as it changes, and limits and names that are set there hold at once', async () => {
  const gate = Promise.withResolvers<void>()
  const usage = { prompt_tokens: 400, completion_tokens: 400, total_tokens: 800 }
  await using upstream = await startSimulatedUpstream({
    reply: () => ({ steps: [until(gate.promise), ...jsonReply(200, { model: 'm', usage })] }),
  })
  await using view = await openGatewayView(upstream.baseUrl, { path: '/settings' })
  const { dashboard, port, opened } = view
  const { page } = opened
  const card = page.locator('.clients-card')
  await card.getByText('No calls in the last seven days.').waitFor()
  const call = (...headers: [string, string][]) =>
    exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}', headers })

  // A client that never called has its limit from its first call on.
  await card.getByRole('button', { name: 'Limit another client' }).click()
  const first = card.getByRole('form', { name: 'Limits for another client' })
  await first.getByLabel('Maximum concurrent calls').fill('1')
  await page.keyboard.press('Enter')
  await first.getByText('Enter a client name.').waitFor()
  await first.getByLabel('Client').fill('agent')
  await first.getByLabel('Tokens in 24 hours').fill('1 000')
  await page.keyboard.press('Enter')
  await card.getByRole('row', { name: /^agent no calls yet/ }).waitFor()
  const calls = [1, 2, 3].map(() => call(['x-tokenweir-client', 'agent']))
  const keyed = call(['Authorization', 'Bearer sk-of-nobody'])
  const agent = card.getByRole('row', { name: /^agent/ })
  await agent.getByRole('cell', { name: '1 of 1', exact: true }).waitFor()
  await agent.getByRole('cell', { name: '2', exact: true }).waitFor()
  // The one with a key has come by itself.
  await upstream.waitForInFlight(2)
  assert.equal(upstream.peakInFlight, 2)

  await card.getByRole('button', { name: 'Change agent' }).click()
  const form = card.getByRole('form', { name: 'Limits for agent' })
  await form.getByLabel('Maximum concurrent calls').fill('two')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.getByText('Enter a whole number from 1, or nothing for no limit.').waitFor()
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  await form.getByLabel('Maximum concurrent calls').fill('2')
  // Another tab saves what is being changed here; a further call has this one hear of it.
  await form.getByLabel('Tokens in 24 hours').fill('1000')
  await dashboard.ask('PUT', '/api/clients/agent', { token_limit: 3000 })
  calls.push(call(['x-tokenweir-client', 'another']))
  await form.getByText('Changed elsewhere: Tokens in 24 hours 3,000. Saving replaces it.').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await agent.getByRole('cell', { name: '2 of 2', exact: true }).waitFor()
  await upstream.waitFor('two of its calls and two others', () => upstream.inFlight === 4)
  gate.resolve()
  await Promise.all([...calls, keyed])
  await agent.getByText('used up').waitFor()

  // A key that names no client is given a name, which may be any text.
  const key = card.getByRole('row', { name: /^Key [0-9a-f]{8}/ })
  await key.getByRole('button').click()
  await card.getByLabel('Client name').fill('<b>night</b> job/1')
  await page.keyboard.press('Enter')
  await card.getByText('counts as <b>night</b> job/1').waitFor()
  const file = join(dashboard.directory, 'data/clients.json')
  // The key's fingerprint may be all digits, and JavaScript puts such names first.
  const { agent: kept, ...others } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object>
  assert.deepEqual(kept, { max_concurrent: 2, token_limit: 1000 })
  assert.deepEqual(Object.values(others), [{ name: '<b>night</b> job/1' }])
  const unnamed = await dashboard.ask('PUT', '/api/clients/agent', { name: 'other' })
  assert.equal(unnamed.status, 400)

  // While the file is broken nothing can be changed, and what it said last holds.
  writeFileSync(file, '{"agent": ')
  const refused = await dashboard.ask('PUT', '/api/clients/agent', { max_concurrent: 3 })
  assert.equal(refused.status, 409)
  const report = (await (await dashboard.ask('GET', '/api/clients')).json()) as ClientsReport
  assert.match(report.problem ?? '', /clients\.json, line 1, column \d+/)
  assert.equal(report.clients.find(({ client }) => client === 'agent')?.max_concurrent, 2)
  await page.reload()
  await opened.untilText('client-problem', /The last valid names and limits stay in force/)
  assert.equal(await card.getByRole('button', { name: 'Change agent' }).getAttribute('aria-disabled'), 'true')
})
