import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { asRecord } from '../support/json-record.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { openDashboardPage, startByButton } from './dashboard-page.ts'

/** A page's document, of which the tests know no more. */
interface FieldsById {
  getElementById(id: string): { readonly value: string }
}

async function maxConcurrent(port: number): Promise<unknown> {
  const health = asRecord(await (await fetch(`http://127.0.0.1:${port}/health`)).json())
  return asRecord(health['rate_limiter'])['max_concurrent']
}

test('options: a wrong value is told beside its field, a live one is in force at once, others wait for a restart', async () => {
  await using upstream = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/gateway', expected: / 400 / })
  const { page, button } = opened
  const pid = await startByButton(opened)
  const { port } = await dashboard.status()
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'Settings' }).click()

  // What a flag has fixed is there to be read.
  assert.match((await page.locator('code#option-port').textContent()) ?? '', /^\d+$/)
  await page.getByText('Locked: set by --gateway-port').waitFor()

  const field = page.getByLabel('Maximum concurrent calls')
  await field.fill('0')
  await button('Save').click()
  await opened.untilText('option-max_concurrent-error', /must be a whole number from 1 to 100,000; got 0/)
  assert.equal(await field.getAttribute('aria-invalid'), 'true')
  assert.equal(await maxConcurrent(port), 4)

  await field.fill('7')
  await page.keyboard.press('Enter')
  await opened.untilText('options-told', /^Saved and applied\.$/)
  await page.getByRole('banner').getByText('of 7 slots').waitFor()
  assert.equal(await maxConcurrent(port), 7)
  assert.equal(await field.getAttribute('aria-invalid'), null)

  await page.getByLabel('Upstream', { exact: true }).fill(upstream.baseUrl)
  await button('Save').click()
  await opened.untilText('options-told', /^Saved\. Restart to apply: Upstream\.$/)
  await page.getByText('The running gateway uses https://api.openai.com/v1. Restart to apply.').waitFor()
  assert.equal((await dashboard.status()).pid, pid)
  await button('Restart to apply').click()
  await page.getByRole('dialog').getByText('Applies changes to: Upstream.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click()
  await page.getByText('Restart to apply.').waitFor({ state: 'hidden' })
  assert.deepEqual((await dashboard.status()).upstream, upstream.baseUrl)

  // What was typed and not saved survives a look elsewhere and news, and goes when it is discarded.
  await field.fill('9')
  await views.getByRole('link', { name: 'Calls' }).click()
  await field.waitFor({ state: 'detached' })
  await views.getByRole('link', { name: 'Settings' }).click()
  assert.equal(await field.inputValue(), '9')
  await dashboard.ask('PUT', '/api/proxy/config', { slot_cooldown_ms: 0 })
  await page.waitForFunction(() => {
    const document: unknown = Reflect.get(globalThis, 'document')
    return (document as FieldsById).getElementById('option-slot_cooldown_ms').value === '0'
  })
  assert.equal(await field.inputValue(), '9')
  // Another tab saves what is being changed here.
  await dashboard.ask('PUT', '/api/proxy/config', { max_concurrent: 5 })
  await page.getByText('Changed to 5 calls elsewhere. Saving replaces it.').waitFor()
  assert.equal(await field.inputValue(), '9')
  await button('Discard').click()
  assert.equal(await field.inputValue(), '5')
})

test('log: lines arrive, the end is followed unless the reader scrolled up, and Clear asks first', async () => {
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, { path: '/gateway' })
  const { page, button } = opened
  const log = `${dashboard.directory}/data/proxy.log`
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}\n`)
  const fromEnd = (): Promise<number> =>
    page.evaluate<number>(
      `{ const { scrollTop, clientHeight, scrollHeight } = document.querySelector('#log-lines')
         scrollHeight - clientHeight - scrollTop }`,
    )

  await opened.untilState('Stopped')
  await opened.untilText('log-lines', /^No lines yet\.$/)
  appendFileSync(log, lines.join(''))
  await opened.untilText('log-lines', /line 99$/)
  assert.ok((await fromEnd()) < 8)

  await page.evaluate('document.querySelector("#log-lines").scrollTop = 0')
  await button('Jump to end').waitFor()
  appendFileSync(log, 'one more\nand another\n')
  await button('2 new lines').waitFor()
  assert.ok((await fromEnd()) > 100)
  await button('2 new lines').click()
  await opened.untilText('log-lines', /and another$/)
  assert.ok((await fromEnd()) < 8)
  assert.equal(await page.evaluate('document.activeElement.id'), 'log-lines')
  await button('Jump to end').waitFor({ state: 'hidden' })

  // Under the mouse nothing moves, nor while something is selected; then it goes on.
  await page.mouse.move(0, 0)
  await page.locator('#log-lines').hover()
  appendFileSync(log, 'under the mouse\n')
  await button('1 new line').waitFor()
  assert.doesNotMatch((await page.locator('#log-lines').textContent()) ?? '', /under the mouse/)
  await page.mouse.move(0, 0)
  await opened.untilText('log-lines', /under the mouse$/)
  await page.evaluate(
    'getSelection().selectAllChildren(document.querySelector("#log-lines").lastElementChild)',
  )
  appendFileSync(log, 'while selected\n')
  await button('1 new line').waitFor()
  await page.evaluate('getSelection().empty()')
  await opened.untilText('log-lines', /while selected$/)

  // The keyboard scrolls it, and comes back to what is new.
  await page.locator('#log-lines').focus()
  await page.keyboard.press('Home')
  await button('Jump to end').waitFor()
  await page.keyboard.press('End')
  await button('Jump to end').waitFor({ state: 'hidden' })

  await button('Clear the log').click()
  await page.getByRole('dialog').getByText('Its lines are deleted for good.').waitFor()
  await page.keyboard.press('Escape')
  assert.match(readFileSync(log, 'utf8'), /one more/)
  await button('Clear the log').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
  await opened.untilText('log-lines', /^No lines yet\.$/)
  assert.doesNotMatch(readFileSync(log, 'utf8'), /one more/)
})
