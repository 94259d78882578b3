import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { freePort } from '../support/free-port.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { openDashboardPage, startByButton } from './dashboard-page.ts'

test('the dashboard is killed and comes back: the page keeps what it knew, says since when, and goes on', async () => {
  await using upstream = await startSimulatedUpstream()
  const args = ['--upstream', upstream.baseUrl]
  await using dashboard = await startDashboardProcess({ args, port: await freePort() })
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: /net::ERR_/ })
  const pid = await startByButton(opened)
  const { directory, port } = dashboard

  await dashboard.command.stop('SIGKILL')
  await opened.page
    .getByRole('alert')
    .getByText(/^Dashboard unreachable since \d\d:\d\d:\d\d/)
    .waitFor()
  await opened.untilState('Running')
  await opened.untilText('process', new RegExp(`^${pid},`))

  await using again = await startDashboardProcess({ args, directory, port })
  await opened.page.getByText(/^Dashboard unreachable/).waitFor({ state: 'hidden' })
  assert.equal((await again.status()).pid, pid)
  appendFileSync(`${directory}/data/proxy.log`, 'a line after the return\n')
  await opened.untilText('log-lines', /a line after the return/)
  // And what the page does reaches the new one.
  await opened.button('Stop').click()
  await opened.page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await opened.untilState('Stopped')
})

test('a hidden page holds no connection, and follows again when it is seen', async () => {
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page } = opened
  await opened.untilState('Stopped')
  const streams: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/events')) streams.push('opened')
  })
  const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/events'))

  await page.evaluate(setHidden(true))
  await closed
  assert.deepEqual(streams, [])
  await page.evaluate(setHidden(false))
  appendFileSync(`${dashboard.directory}/data/proxy.log`, 'seen again\n')
  await opened.untilText('log-lines', /seen again/)
  assert.deepEqual(streams, ['opened'])
})

/** A headless page is always seen, so it is told otherwise. */
function setHidden(hidden: boolean): string {
  return `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })
    document.dispatchEvent(new Event('visibilitychange'))`
}
