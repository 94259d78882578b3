/** What a provider said of its limits, and what calls wait for, on the page of a real gateway. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { exchange } from '../support/exchange.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill } from './dashboard-page.ts'

test('a limit that is nearly used up, the limit that a 429 met, and a call that waits for the minute are shown', async () => {
  await using upstream = await startSimulatedUpstream({
    reply: () => jsonReply(200, { model: 'm', choices: [] }),
  })
  await using dashboard = await startDashboardProcess({
    args: ['--upstream', upstream.baseUrl, '--max-rpm', '1'],
  })
  await dashboard.ask('POST', '/api/proxy/start')
  const { port } = await dashboard.status()
  await using opened = await openDashboardPage(dashboard, {
    path: '/gateway',
    bypassCSP: true,
  })
  const { page } = opened
  const card = page.locator('.limits-card')
  await page.getByRole('heading', { name: 'Gateway', exact: true }).first().waitFor()
  assert.equal(await card.count(), 0, 'no provider has told of a limit')

  upstream.replyOnce(
    jsonReply(429, { error: { message: 'Slow down', code: 'rate_limit_exceeded' } }, [
      ['x-ratelimit-limit-requests', '500'],
      ['x-ratelimit-remaining-requests', '212'],
      ['x-ratelimit-limit-tokens', '200000'],
      ['x-ratelimit-remaining-tokens', '10'],
      ['x-ratelimit-reset-tokens', '9m0s'],
    ]),
  )
  const ask = () => exchange(port, 'POST', '/v1/chat/completions', { body: '{"model":"m"}' })
  assert.equal((await ask()).status, 429)
  await card.getByText('212 of 500 requests per minute').waitFor()
  await card.getByText(/^10 of 200,000 tokens per minute left, resets in/).waitFor()
  await card.getByText('Nearly used up').waitFor()
  await untilStill(page)
  assert.deepEqual(await violations(page), [])

  const waits = ask()
  waits.catch(() => {})
  await page.goto(`${dashboard.origin}/live`)
  await page.getByText('Waiting for rate limit').waitFor()
  await page.goto(`${dashboard.origin}/calls`)
  await page.getByRole('row').filter({ hasText: '429' }).first().click()
  await page.getByText('Provider limit hit').waitFor()
  await page
    .getByRole('definition')
    .filter({ hasText: /^tokens$/ })
    .waitFor()
})
