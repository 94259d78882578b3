import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { CallPayloads } from '../../src/api/call-payloads.ts'
import type { CallJson } from '../../src/call/call-record.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill } from './dashboard-page.ts'
import { naughtyStrings } from './naughty-strings.ts'
import { writePageData } from './page-data.ts'
import { sampleAnswer, sampleRequest } from './sample-payloads.ts'

const nothingKept: CallPayloads = { request: null, answer: null, logging: false, reason: 'logging_off' }

const markdown = 'I look it up.\n\n# In `<b>`\n- **Lyon**\n```\na < b && <i>c</i>\n```'
const classNames = (elements: readonly { readonly className: string }[]): readonly string[] =>
  elements.map(({ className }) => className)
const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** The calls of the database, the newest first. */
async function callsOf(dashboard: DashboardProcess): Promise<readonly CallJson[]> {
  return ((await (await dashboard.ask('GET', '/api/query')).json()) as { calls: readonly CallJson[] }).calls
}

/** Has the dashboard say this of every call. The text is sent as it is: not all of JSON survives being read. */
async function keep(page: Page, payloads: CallPayloads | string): Promise<void> {
  const body = typeof payloads === 'string' ? payloads : JSON.stringify(payloads)
  await page.unrouteAll()
  await page.route('**/api/calls/*/payloads', (route) =>
    route.fulfill({ contentType: 'application/json', body }),
  )
}

test('the tabs of a call show what went over the wire, a streamed tool call put together', async () => {
  await using directory = await makeTempDir()
  writePageData(directory.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: directory.path })
  const [call] = await callsOf(dashboard)
  assert.ok(call !== undefined)
  await using opened = await openDashboardPage(dashboard, { path: '/calls' })
  const { page } = opened
  const { id } = call
  const answer = sampleAnswer(id, { text: markdown })
  await keep(page, { request: sampleRequest(id), answer, logging: true, reason: null })
  await page.goto(`${dashboard.origin}/calls?call=${id}`)
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Upstream' }).waitFor()

  await page.keyboard.press('2')
  await dialog.getByText('I look it up.').waitFor()
  assert.equal(new URL(page.url()).searchParams.get('tab'), 'chat')
  const chat = await dialog.innerText()
  for (const words of [
    'temperature 0.2',
    '1 tool',
    'Be brief.',
    'Image (png), 3 kB',
    'Calls get_weather call_1',
  ]) {
    assert.ok(chat.includes(words), words)
  }
  assert.ok(chat.includes('{\n  "city": "Lyon"\n}'), chat)
  // Roles, code and JSON are told apart; what looks like HTML is text.
  assert.deepEqual(await dialog.locator('.messages li[class]').evaluateAll(classNames), [
    'by-system',
    'by-user',
    'by-assistant',
  ])
  assert.equal(await dialog.locator('.said-code').innerText(), 'a < b && <i>c</i>')
  assert.equal(await dialog.locator('.said p > code').innerText(), '<b>')
  assert.equal(await dialog.locator('.said-item').innerText().then(oneLine), '• Lyon')
  assert.equal(await dialog.locator('.json-key').innerText(), '"city"')
  const reasoning = dialog.getByText('There is a tool for that.')
  assert.equal(await reasoning.isVisible(), false)
  await dialog.getByText('Reasoning, 25 characters').click()
  await reasoning.waitFor()

  await dialog.getByRole('button', { name: 'Response', exact: true }).click()
  await dialog.getByRole('region', { name: 'Events' }).getByText('data: [DONE]').waitFor()
  assert.ok((await dialog.innerText()).includes('I look it up.'))
  await page.keyboard.press('5')
  await dialog.getByText('Bearer hmac:3fa9c01b(51)').waitFor()
  assert.ok((await dialog.innerText()).includes('Keys are redacted'))
  // The tab stays when the list is gone through, and a link shows others the same.
  await page.reload()
  await dialog.getByText('Bearer hmac:3fa9c01b(51)').waitFor()

  const odd = '{"n": 1e400, "big": 12345678901234567890, "twice": 0.10, "twice": 2, "empty": {}}'
  const record = JSON.stringify(sampleRequest(id, { body: 0 })).replace('"body":0', `"body":${odd}`)
  await keep(page, `{"request":${record},"answer":null,"logging":true,"reason":null}`)
  await page.goto(`${dashboard.origin}/calls?call=${id}&tab=request`)
  const shown = dialog.getByRole('region', { name: 'Body' })
  await shown.getByText('1e400').waitFor()
  const pretty =
    '{\n  "n": 1e400,\n  "big": 12345678901234567890,\n  "twice": 0.10,\n  "twice": 2,\n  "empty": {}\n}'
  assert.equal(await shown.textContent(), pretty)
  assert.deepEqual(await shown.locator('.json-number').allTextContents(), [
    '1e400',
    '12345678901234567890',
    '0.10',
    '2',
  ])
  await dialog.getByRole('button', { name: 'Raw' }).click()
  assert.equal(await shown.textContent(), odd)
})

test('where nothing is kept the tabs say why, and lead to the switch', async () => {
  await using directory = await makeTempDir()
  writePageData(directory.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: directory.path })
  const calls = await callsOf(dashboard)
  const failed = calls.find(({ failure_code: code }) => code === 'upstream_reset')
  assert.ok(failed !== undefined)
  const path = `/calls?call=${failed.id}&tab=request`
  await using opened = await openDashboardPage(dashboard, { path })
  const { page } = opened
  const dialog = page.getByRole('dialog')
  // By the real dashboard: nothing was ever kept in its folder.
  await dialog.getByText('Payload capture was off').waitFor()
  await page.keyboard.press('6')
  await dialog.getByText('The upstream’s connection broke before the response was complete.').waitFor()
  await keep(page, { ...nothingKept, logging: true, reason: 'rotated_away' })
  await page.goto(`${dashboard.origin}/calls?call=${failed.id}&tab=chat`)
  await dialog.getByText('replaced by newer ones').waitFor()
  assert.equal(await dialog.getByRole('link', { name: 'Turn on capture' }).count(), 0)
  await keep(page, nothingKept)
  await page.reload()
  await dialog.getByRole('link', { name: 'Turn on capture' }).click()
  await page.getByRole('heading', { name: 'Payload capture is off' }).waitFor()
  assert.equal(new URL(page.url()).pathname + new URL(page.url()).search, '/live')
})

test('payloads that are hostile, or as large as they get, stay text', async () => {
  await using directory = await makeTempDir()
  writePageData(directory.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: directory.path })
  const [call] = await callsOf(dashboard)
  assert.ok(call !== undefined)
  const { id } = call
  await using opened = await openDashboardPage(dashboard, { path: '/calls' })
  const { page } = opened
  const dialog = page.getByRole('dialog')
  const texts = naughtyStrings.filter((text) => text.trim() !== '')
  const everything = texts.join('\n')
  const hostile = {
    role: everything,
    content: everything,
    tool_calls: [{ id: everything, function: { name: everything, arguments: everything } }],
  }
  await keep(page, {
    request: sampleRequest(id, {
      path: everything,
      headers: { 'x-a': texts },
      body: { messages: [hostile, { role: 'user', content: 'x'.repeat(1_000_000) }], model: everything },
    }),
    answer: sampleAnswer(id, { body: everything, text: everything, reasoning: everything, tool_calls: [] }),
    logging: true,
    reason: null,
  })
  for (const tab of ['chat', 'request', 'response', 'headers']) {
    await page.goto(`${dashboard.origin}/calls?call=${id}&tab=${tab}`)
    await dialog.getByText('onerror').first().waitFor({ state: 'attached' })
    const strange = await dialog.evaluate((panel) =>
      [
        ...panel.querySelectorAll(
          'script, img, iframe, object, embed, link, style, base, form, video, [onerror], [onload]',
        ),
      ].map(({ tagName }) => tagName),
    )
    assert.deepEqual(strange, [], tab)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, tab)
  }
  await page.goto(`${dashboard.origin}/calls?call=${id}&tab=request`)
  const shown = dialog.getByRole('region', { name: 'Body' })
  await shown.waitFor()
  assert.ok(((await shown.textContent()) ?? '').length < 300_000)
  await dialog.getByRole('button', { name: /^Show all/ }).click()
  assert.ok(((await shown.textContent()) ?? '').length > 1_000_000)
  // So many colours would take the browser its time.
  assert.equal(await shown.locator('.json-string').count(), 0)
})

test('axe finds nothing in any tab, in light and dark', async () => {
  await using directory = await makeTempDir()
  writePageData(directory.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: directory.path })
  const failed = (await callsOf(dashboard)).find(({ failed }) => failed)
  assert.ok(failed !== undefined)
  const { id } = failed
  const options = { path: '/calls', bypassCSP: true, reducedMotion: 'reduce' } as const
  await using opened = await openDashboardPage(dashboard, options)
  const { page } = opened
  await keep(page, {
    request: sampleRequest(id),
    answer: sampleAnswer(id, { text: markdown }),
    logging: true,
    reason: null,
  })
  await page.goto(`${dashboard.origin}/calls?call=${id}`)
  const tabs = page.getByRole('group', { name: 'Call details' })
  const dialog = page.getByRole('dialog')
  for (const [name, shown] of [
    ['Chat', 'I look it up.'],
    ['Request', 'How is the weather in Lyon?'],
    ['Response', 'data: [DONE]'],
    ['Headers', 'Keys are redacted'],
    ['Error', 'The upstream’s connection broke'],
  ] as const) {
    await tabs.getByRole('button', { name }).click()
    await dialog.getByText(shown).first().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await untilStill(page)
      assert.deepEqual(await violations(page), [], `${name} ${colorScheme}`)
    }
  }
})
