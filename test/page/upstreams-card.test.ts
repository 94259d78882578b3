import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import { untilStill } from './dashboard-page.ts'
import { openGatewayView } from './gateway-view.ts'

test('upstreams are added, changed and removed on the page, which tells how each is; calls are filtered by them', async () => {
  await using byDefault = await startSimulatedUpstream()
  await using local = await startSimulatedUpstream()
  const nobody = await freePort()
  await using view = await openGatewayView(byDefault.baseUrl, { expected: / 400 / })
  const { dashboard, port } = view
  const { page } = view.opened
  const card = page.locator('.upstreams-card')
  await card.getByText(`All calls go to ${byDefault.baseUrl}.`).waitFor()

  await card.getByRole('button', { name: 'Add upstream' }).click()
  const adding = card.getByRole('form', { name: 'New upstream' })
  await adding.getByRole('button', { name: 'Save' }).click()
  await adding.getByText('Enter a name.').waitFor()
  await adding.getByLabel('Name').fill('v1')
  await adding.getByLabel('URLs').fill('localhost:11434')
  await adding.getByRole('button', { name: 'Save' }).click()
  await adding.getByText('A URL must start with http:// or https://, unlike localhost:11434.').waitFor()
  await adding.getByLabel('URLs').fill(`http://127.0.0.1:${nobody} ${local.origin}`)
  // Tried before it is saved: one address answers, behind the other nobody listens.
  await adding.getByRole('button', { name: 'Test' }).click()
  await adding
    .getByRole('status')
    .getByText(new RegExp(`^Failed: .*:${nobody}.* · ${local.origin} answers in `))
    .waitFor()
  await adding.getByLabel('Models').fill('llama*, qwen*')
  await adding.getByLabel('Maximum concurrent calls').fill('3')
  await adding.getByLabel('Falls back to').selectOption('default')
  await adding.getByRole('button', { name: 'Save' }).click()
  // What the dashboard says against it is said where it was asked.
  await adding.getByText('upstreams[0].name cannot be v1').waitFor()
  await adding.getByLabel('Name').fill('local')
  await adding.getByRole('button', { name: 'Save' }).click()
  const line = card.getByRole('row', { name: /^local/ })
  await line.getByRole('cell', { name: '0 of 3', exact: true }).waitFor()
  await line.getByText('llama*, qwen*, and paths under /local/').waitFor()
  await line.getByText('Not called yet').waitFor()
  await line.getByText('no credentials; falls back to default').waitFor()

  for (const model of ['llama-3', 'gpt']) {
    const body = JSON.stringify({ model, messages: [] })
    assert.equal((await exchange(port, 'POST', '/v1/chat/completions', { body })).status, 200)
  }
  await line.getByText('1 of 2 failing').waitFor()
  await line.getByText(new RegExp(`127.0.0.1:${nobody} failing since .*nothing listens there`)).waitFor()
  // Scrolled, the bar covers a part of what stands below it.
  await page.evaluate('scrollTo(0, 0)')
  await untilStill(page)
  assert.deepEqual(await violations(page), [])

  await card.getByRole('button', { name: 'Change local' }).click()
  const changing = card.getByRole('form', { name: 'Upstream local' })
  await changing.getByLabel('URLs').fill(local.origin)
  await changing.getByRole('button', { name: 'Save' }).click()
  await line.getByText('OK', { exact: true }).waitFor()
  const file = join(dashboard.directory, 'data/upstreams.json')
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {
    version: 1,
    upstreams: [
      {
        name: 'local',
        urls: [local.origin],
        models: ['llama*', 'qwen*'],
        max_concurrent: 3,
        fallback: 'default',
      },
    ],
  })

  await page.goto(`${dashboard.origin}/calls?range=24h`)
  await page.getByRole('button', { name: 'Upstream', exact: true }).click()
  await page.getByRole('checkbox', { name: /local/ }).check()
  await page.getByText('llama-3').first().waitFor()
  await page.getByText('gpt', { exact: true }).waitFor({ state: 'detached' })
  assert.match(page.url(), /upstream_name=local/)

  // A file that is broken by hand is told, and nothing is written over it.
  await page.goto(`${dashboard.origin}/gateway`)
  writeFileSync(file, '{"version": 1, "upstreams": [{"name": "local", "urls": [3]}]}')
  await page.reload()
  await card.getByText(/line 1, column \d+: upstreams\[0\]\.urls\[0\] must be an http or https URL/).waitFor()
  writeFileSync(file, JSON.stringify({ version: 1, upstreams: [{ name: 'local', urls: [local.origin] }] }))
  await page.reload()
  await card.getByRole('button', { name: 'Change local' }).click()
  await changing.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await card.getByText(`All calls go to ${byDefault.baseUrl}.`).waitFor()
})

test('the limits that answers tell of are a card, and the panel of a 429 names the limit that it met', async () => {
  await using upstream = await startSimulatedUpstream()
  await using view = await openGatewayView(upstream.baseUrl)
  const { dashboard, port } = view
  const { page } = view.opened
  await page.getByRole('heading', { name: 'Upstreams' }).waitFor()
  const card = page.locator('.limits-card')
  assert.equal(await card.count(), 0, 'no answer has told of a limit')

  upstream.replyOnce(
    jsonReply(429, { error: { message: 'Slow down' } }, [
      ['x-ratelimit-limit-tokens', '200000'],
      ['x-ratelimit-remaining-tokens', '120'],
      ['x-ratelimit-reset-tokens', '10m'],
      ['x-ratelimit-limit-requests', '500'],
      ['x-ratelimit-remaining-requests', '212'],
    ]),
  )
  const body = JSON.stringify({ model: 'gpt-4.1', messages: [] })
  assert.equal((await exchange(port, 'POST', '/v1/chat/completions', { body })).status, 429)
  const line = card.getByRole('row', { name: /^gpt-4\.1/ })
  await line.getByText('Nearly used up').waitFor()
  await line.getByText(/^120 of 200,000 tokens per minute left, resets in/).waitFor()
  await line.getByText('212 of 500 requests per minute left').waitFor()
  await untilStill(page)
  assert.deepEqual(await violations(page), [])

  await page.goto(`${dashboard.origin}/calls`)
  await page.getByText('gpt-4.1').first().click()
  const fact = page
    .getByRole('dialog')
    .locator('div', { has: page.getByText('Provider limit hit') })
    .last()
  assert.match(await fact.innerText(), /tokens$/)
})
