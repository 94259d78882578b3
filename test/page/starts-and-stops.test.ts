import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { until } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { openDashboardPage, startByButton, untilTrue } from './dashboard-page.ts'

test('the buttons start, restart and stop the gateway, after saying what becomes of its calls', async () => {
  await using upstream = await startSimulatedUpstream()
  // A call in flight is not to be cut off while this looks at the page.
  const args = ['--upstream', upstream.baseUrl, '--max-concurrent', '1', '--drain-timeout-ms', '60000']
  await using dashboard = await startDashboardProcess({ args })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page, button } = opened
  const points = page.getByRole('dialog').getByRole('listitem')

  const firstPid = await startByButton(opened)
  const first = await dashboard.status()
  assert.deepEqual([first.state, first.pid], ['running', firstPid])
  assert.equal(await opened.untilText('base-url', /^http/), `http://127.0.0.1:${first.port}/v1`)

  await button('Restart').click()
  await points.first().waitFor()
  assert.deepEqual(await points.allTextContents(), [
    'No calls in flight.',
    'No call is refused: the new process takes over once it is up.',
  ])
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
  await opened.untilText('process', new RegExp(`^(?!${firstPid},)\\d+, instance`))
  await opened.untilState('Running')
  const second = await dashboard.status()
  assert.notEqual(second.pid, firstPid)

  assert.equal((await fetch(`http://127.0.0.1:${second.port}/chat/completions`)).status, 404)
  await opened.untilText('wrong-base-url', /^1 call with a wrong base URL was refused/)

  const gate = Promise.withResolvers<void>()
  upstream.replyOnce([until(gate.promise), ...jsonReply(200, {})])
  const call = (): Promise<Response> =>
    fetch(`http://127.0.0.1:${second.port}/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  const inFlight = call()
  await upstream.waitForInFlight(1)
  const waiting = call()
  await opened.untilText('active', /^1$/)
  await opened.untilText('queued', /^1$/)

  await button('Stop').click()
  await points.first().waitFor()
  assert.deepEqual(await points.allTextContents(), [
    '1 call in flight can finish within 1 min.',
    '1 waiting call will be refused.',
    'Requests will be refused until you start it again.',
  ])
  await page.keyboard.press('Escape')
  assert.equal((await dashboard.status()).state, 'running')

  await button('Stop').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await opened.untilState('Draining')
  await opened.untilText('gateway-detail', /^finishing 1 call$/)
  assert.equal((await waiting).status, 503)
  gate.resolve()
  assert.equal((await inFlight).status, 200)
  await opened.untilState('Stopped')
  assert.equal((await dashboard.status()).state, 'stopped')
  await assert.rejects(call())
})

test('the keyboard alone starts and stops the gateway', async () => {
  await using upstream = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess({ args: ['--upstream', upstream.baseUrl] })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.innerText')
  const tabTo = async (words: string): Promise<void> => {
    for (let presses = 0; (await focused()) !== words; presses += 1) {
      assert.ok(presses < 30, `Tab never reaches ${words}`)
      await page.keyboard.press('Tab')
    }
  }

  await opened.untilState('Stopped')
  await tabTo('Start')
  await page.keyboard.press('Enter')
  await opened.untilState('Running')
  // The button that had the focus keeps it, and now does the opposite: after it was asked.
  await untilTrue(page, 'document.activeElement.innerText === "Stop"')
  await page.keyboard.press('Space')
  await page.getByRole('dialog').waitFor()
  // What does no harm has the focus first.
  assert.equal(await focused(), 'Cancel')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  assert.equal(await focused(), 'Stop')
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await focused(), 'Stop')
  await page.keyboard.press('Enter')
  await opened.untilState('Stopped')
  await untilTrue(page, 'document.activeElement.innerText === "Start"')
})

test('the port is taken: the page says so, and offers nothing that cannot work', async () => {
  await using taken = await startSimulatedUpstream()
  const args = ['--gateway-port', String(taken.port)]
  await using dashboard = await startDashboardProcess({ args })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  await opened.untilState('Port in use by another program')
  assert.match(await opened.untilText('message', /./), new RegExp(`${taken.port}`))
  for (const name of ['Start', 'Restart']) {
    assert.equal(await opened.button(name).getAttribute('aria-disabled'), 'true')
  }
})

test('a gateway that does not come up: its last words are shown, once, until they are dismissed', async () => {
  await using dashboard = await startDashboardProcess({ args: ['--gateway-host', '203.0.113.1'] })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 50[03] / })
  const { page } = opened
  await opened.untilState('Stopped')
  await opened.button('Start').click()
  const log = await opened.untilText('gateway-error-log', /no such address/)
  assert.match(log, /203\.0\.113\.1/)
  await opened.untilState('Stopped')
  assert.equal(
    await page
      .getByRole('region', { name: 'State', exact: true })
      .getByText(/ended with exit code 1/)
      .count(),
    1,
  )
  await opened.button('Dismiss').click()
  await page.locator('#gateway-error').waitFor({ state: 'hidden' })
  // What the dashboard itself says of it stays.
  await opened.untilText('message', /last start failed/)
})
