import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { PayloadEvent } from '../../src/api/dashboard-event.ts'
import type { RawLogStatus } from '../../src/api/raw-log.ts'
import { runningStatus } from '../dashboard/scripted-gateway.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { requestBytes } from '../support/exchange.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { type ReplyStep, stall, until, write } from '../support/reply-step.ts'
import { bodyReply, chunkFrame, lastChunk, sseEvent, streamHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import {
  type DashboardPage,
  openDashboardPage,
  pressInTurn,
  untilStill,
  untilTrue,
} from './dashboard-page.ts'
import { naughtyStrings } from './naughty-strings.ts'
import { sampleAnswer, sampleRequest } from './sample-payloads.ts'
import { dashboardOver } from './shared-dashboard.ts'

const boardOf = (page: Page): Locator => page.getByRole('table', { name: 'Calls in progress, oldest first' })
const rowOf = (page: Page, model: string): Locator =>
  boardOf(page).locator('tbody tr:has([data-id])').filter({ hasText: model })

function stream(...rest: ReplyStep[]): ReplyStep[] {
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  return [write(streamHead), write(chunkFrame(event)), ...rest]
}

async function ask(port: number, model: string): Promise<RawClient> {
  const client = await openRawClient(port)
  const headers = [
    ['x-tokenweir-client', `agent-${model}`],
    ['x-tokenweir-session', `run of ${model}`],
  ] as const
  await client.send(
    requestBytes('POST', '/v1/chat/completions', { headers, body: JSON.stringify({ model }) }),
  )
  return client
}

test('calls under way keep their places, tell their states, and one is cancelled after a question', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream()
  await using dashboard = await startDashboardProcess({
    args: ['--upstream', upstream.baseUrl, '--max-concurrent', '2', '--slot-cooldown-ms', '0'],
  })
  await using opened = await openDashboardPage(dashboard, {
    path: '/live',
    reducedMotion: 'reduce',
    viewport: { width: 1440, height: 900 },
    expected: /net::ERR_/,
  })
  const { page } = opened
  await page.getByText('The gateway is stopped, so no calls are in progress.').waitFor()
  await dashboard.ask('POST', '/api/proxy/start')
  await page.getByText('No calls in progress.').waitFor()
  const { port } = await dashboard.status()

  upstream.replyOnce(
    stream(until(gate.promise), write(Buffer.concat([chunkFrame(sseEvent('[DONE]')), lastChunk()]))),
  )
  await using ends = await ask(port, 'ends')
  await ends.waitForBytes('"w"')
  upstream.replyOnce(stream(stall()))
  await using streams = await ask(port, 'streams')
  await streams.waitForBytes('"w"')
  upstream.replyOnce([stall()])
  await using queues = await ask(port, 'queues')
  await rowOf(page, 'ends')
    .getByText(/^Streaming/)
    .waitFor()
  await rowOf(page, 'queues')
    .getByText(/^Queued #1/)
    .waitFor()
  await page.getByText('2 streaming, 1 queued', { exact: true }).first().waitFor()
  await untilStill(page)
  assert.deepEqual(await violations(page), [])
  const client = rowOf(page, 'streams').getByRole('link', { name: 'agent-streams' })
  assert.equal(await client.getAttribute('href'), '/calls?client=agent-streams')
  const session = rowOf(page, 'streams').getByRole('link', { name: 'run of streams' })
  assert.equal(await session.getAttribute('href'), '/sessions?session=run+of+streams')
  // What is to be seen in a bar is told to those who do not see it.
  await rowOf(page, 'queues')
    .getByRole('img', { name: /Waiting for slot/ })
    .waitFor()

  // A call that ends keeps its place while the pointer is in the board, and no other row moves.
  const topOf = async (model: string): Promise<number | undefined> =>
    (await rowOf(page, model).boundingBox())?.y
  await rowOf(page, 'streams').hover()
  const before = await topOf('streams')
  gate.resolve()
  await rowOf(page, 'ends').getByText('Ended').waitFor()
  await rowOf(page, 'queues')
    .getByText(/^Awaiting response/)
    .waitFor()
  assert.equal(await topOf('streams'), before)
  await page.mouse.move(0, 0)
  await rowOf(page, 'ends').waitFor({ state: 'detached' })
  assert.ok((await topOf('streams'))! < before!)

  // By keys alone: the first row, its cancelling, and that again with another answer.
  await page.keyboard.press('j')
  await untilTrue(page, `document.activeElement?.textContent === 'streams'`)
  await page.keyboard.press('x')
  const question = page.getByRole('dialog', { name: 'Cancel this call of streams?' })
  await question.getByText(/^The response stops after 1 chunk\./).waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'detached' })
  await untilTrue(page, `document.activeElement?.textContent === 'streams'`)
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog')
  await panel.waitFor()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })

  await rowOf(page, 'streams').getByRole('button', { name: 'Cancel this call' }).click()
  // By keyboard, so that the mouse stays on the board, which keeps what has ended as long as it is read.
  await question.getByRole('button', { name: 'Cancel call' }).press('Enter')
  const cut = await streams.response()
  assert.deepEqual([cut.status, cut.complete], [200, false])
  await rowOf(page, 'streams').getByText('Ended').waitFor()
  // What became of it stands in the list below.
  await rowsOf(page).filter({ hasText: 'streams' }).getByText('Cancelled').waitFor()

  // Nobody reads it any more.
  await page.mouse.move(0, 0)
  await page.evaluate('document.activeElement.blur()')
  queues.reset()
  await rowOf(page, 'queues').waitFor({ state: 'detached' })
  await page.getByText('No calls in progress.').waitFor()
  await dashboard.command.stop('SIGKILL')
  await page.getByText('The dashboard is unreachable: calls in progress are unknown.').waitFor()
})

test('on a phone each call has two lines, nothing is wider than the screen, and a thousand cost few rows', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => ({ steps: [stall()] }) })
  await using dashboard = await startDashboardProcess({
    args: ['--upstream', upstream.baseUrl, '--max-concurrent', '4'],
  })
  await dashboard.ask('POST', '/api/proxy/start')
  const { port } = await dashboard.status()
  await using clients = new AsyncDisposableStack()
  for (let made = 0; made < 1000; made += 100) {
    for (const client of await Promise.all(
      Array.from({ length: 100 }, (_, at) => ask(port, `model-${made + at}`)),
    )) {
      clients.use(client)
    }
  }
  await using opened = await openDashboardPage(dashboard, {
    path: '/live',
    reducedMotion: 'reduce',
    viewport: { width: 390, height: 844 },
    colorScheme: 'dark',
  })
  const { page } = opened
  await page.getByText('4 awaiting response, 996 queued').first().waitFor()
  await untilStill(page)
  assert.ok((await boardOf(page).locator('tbody tr:has([data-id])').count()) < 60)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  assert.deepEqual(await violations(page), [])
})

/** Takes the place of the stream of payloads: a test says what comes. Other streams are the dashboard's. */
const scriptedFeed = `(() => {
  const Stream = globalThis.EventSource
  const feeds = []
  globalThis.feedsOpened = 0
  globalThis.tellFeed = (events) => {
    for (const event of events) {
      for (const feed of feeds) feed.dispatchEvent(new MessageEvent('payloads', { data: JSON.stringify(event) }))
    }
  }
  globalThis.EventSource = class extends EventTarget {
    constructor(url) {
      super()
      if (!url.includes('payloads')) return new Stream(url)
      feeds.push(this)
      globalThis.feedsOpened += 1
      queueMicrotask(() => {
        this.dispatchEvent(new Event('open'))
        globalThis.tellFeed([{ type: 'connected', enabled: false }])
      })
    }
    close() {
      feeds.splice(feeds.indexOf(this), 1)
    }
  }
})()`

async function openLive(dashboard: { readonly origin: string }): Promise<DashboardPage> {
  const opened = await openDashboardPage(dashboard, { path: '/gateway', bypassCSP: true })
  await opened.page.addInitScript(scriptedFeed)
  await opened.page.goto(`${dashboard.origin}/live`)
  await untilTrue(opened.page, 'globalThis.feedsOpened === 1')
  return opened
}

async function tell(page: Page, ...events: readonly PayloadEvent[]): Promise<void> {
  await page.evaluate(`tellFeed(${JSON.stringify(events)})`)
}

/** The calls that are there, of those that are listed. */
const rowsOf = (page: Page): Locator =>
  page.getByRole('table', { name: 'Calls, newest first' }).locator('tbody tr:has([data-id])')

/** Eleven characters, as ids have. */
const idOf = (number: number): string => `7${String(number).padStart(10, '0')}`

function started(id: string): PayloadEvent {
  return {
    type: 'started',
    id,
    timestamp: new Date().toISOString(),
    method: 'POST',
    path: '/v1/chat/completions',
  }
}

test('a call appears as it begins, shows what was asked, and its answer when it has ended', async () => {
  await using opened = await openLive(await dashboardOver('none'))
  const { page } = opened
  const id = idOf(1)
  const row = rowsOf(page)
  // The dashboard, which has no such call, would be asked for it if this took two seconds.
  await page.route(`**/api/calls/${id}`, () => undefined)
  await tell(page, started(id), sampleRequest(id))
  await row.getByText('How is the weather in Lyon?').waitFor()
  await row.getByText('In progress').waitFor()

  await row.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The response is still in progress.').waitFor()
  assert.equal(new URL(page.url()).search, `?call=${id}&tab=chat`)
  await tell(page, sampleAnswer(id))
  await dialog.getByText('I look it up.').waitFor()
  await dialog.getByText('"city": "Lyon"').waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  assert.equal(new URL(page.url()).search, '')
  await page.mouse.move(0, 0)
  await row.getByText('1.23 s', { exact: true }).waitFor()

  // Nothing of what goes by is ever markup, in a row or in the panel.
  const hostile = naughtyStrings.filter((text) => text.includes('<'))
  for (const [at, text] of hostile.entries()) {
    const other = idOf(100 + at)
    await tell(
      page,
      started(other),
      sampleRequest(other, { model: text, path: text, body: { messages: [{ role: text, content: text }] } }),
      sampleAnswer(other, { model: text, text, outcome: 'upstream_error', failure_code: text }),
    )
  }
  // The focus is in the list again: it stands still.
  await page.getByRole('button', { name: / new$/ }).click()
  await untilTrue(page, `document.querySelectorAll('.live-list a[data-id]').length > 5`)
  const strange = `document.querySelectorAll('main :is(script, img, iframe, object, embed, form, video, [onerror])').length`
  assert.equal(await page.evaluate(strange), 0)
})

test('the list stands still while it is read, and says how many came', async () => {
  await using opened = await openLive(await dashboardOver('none'))
  const { page } = opened
  const come = (from: number, to: number): Promise<void> =>
    tell(
      page,
      ...Array.from({ length: to - from }, (_, at) => idOf(from + at)).flatMap((id) => [
        started(id),
        sampleRequest(id, { body: { prompt: `number ${Number(id.slice(1))}` } }),
        sampleAnswer(id),
      ]),
    )
  const first = (): Promise<string | null> =>
    rowsOf(page).first().locator('[data-id]').getAttribute('data-id')
  const untilFirst = (number: number): Promise<void> =>
    untilTrue(page, `document.querySelector('.live-list a[data-id]')?.dataset.id === '${idOf(number)}'`)
  const pill = page.getByRole('button', { name: / new$/ })
  await come(0, 40)
  await untilFirst(39)

  // By pausing it.
  await page.keyboard.press(' ')
  await come(40, 77)
  await page.getByRole('button', { name: '37 new' }).waitFor()
  // Its styles are there although no other view was opened.
  assert.equal(
    await page.evaluate('getComputedStyle(document.querySelector(".live-pill")).position'),
    'absolute',
  )
  assert.equal(await first(), idOf(39))
  await page.keyboard.press(' ')
  await untilFirst(76)
  await pill.waitFor({ state: 'detached' })

  // With the mouse over it.
  await rowsOf(page).nth(3).hover()
  await come(77, 80)
  await page.getByRole('button', { name: '3 new' }).waitFor()
  assert.equal(await first(), idOf(76))
  await page.mouse.move(5, 5)
  await untilFirst(79)

  // By keys, and scrolled away.
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await come(80, 82)
  await page.getByRole('button', { name: '2 new' }).waitFor()
  await page.keyboard.press('Escape')
  await untilFirst(81)
  await page
    .getByRole('table', { name: 'Calls, newest first' })
    .evaluate((list) => list.parentElement.scrollTo(0, 500))
  // Seen once the rows at the top are not there any more.
  await untilTrue(page, `document.querySelector('.live-list a[data-id]')?.dataset.id !== '${idOf(81)}'`)
  await come(82, 83)
  await page.getByRole('button', { name: '1 new' }).click()
  await untilFirst(82)

  // Of all that come only the last are listed, and only those that are seen are there.
  await come(100, 2500)
  await untilFirst(2499)
  await page.getByText('2,000 calls (latest)').waitFor()
  assert.ok((await rowsOf(page).count()) < 80)
  await page.getByLabel('Find in payloads').fill('number 2400')
  await untilTrue(page, `document.querySelectorAll('.live-list a[data-id]').length === 1`)
  // Filtered to nothing under the mouse it does not stand still for ever.
  await rowsOf(page).first().hover()
  await page.getByLabel('Find in payloads').fill('number 7000')
  await page.getByRole('heading', { name: 'No calls match' }).waitFor()
  await come(7000, 7001)
  await untilFirst(7000)
  await tell(page, { type: 'dropped', count: 1204 })
  await page.getByText(/^1.204 records skipped/).waitFor()
})

test('the switch says what is kept, and what becomes of clearing it', async () => {
  await using dashboard = await startDashboardProcess()
  await using opened = await openLive(dashboard)
  const { page } = opened
  // No gateway runs: nothing can be switched on.
  await page.getByText('Payload capture is off').waitFor()
  await page.getByRole('heading', { name: 'The gateway is stopped' }).waitFor()
  assert.equal(await opened.button('10 minutes').getAttribute('aria-disabled'), 'true')
  await dashboard.ask('POST', '/api/proxy/start')
  await page.getByRole('heading', { name: 'Waiting for calls' }).waitFor()

  const asked: string[] = []
  let status: RawLogStatus = {
    enabled: false,
    enabled_until: null,
    capture: 'all',
    file_path: 'data/logger/payloads.jsonl',
    file_size_bytes: 0,
    file_size_formatted: '0 B',
    subscribers_count: 1,
    dropped: 0,
    trouble: null,
  }
  await page.route('**/api/raw-log/*', async (route) => {
    const request = route.request()
    if (request.method() === 'POST') {
      asked.push(`${new URL(request.url()).pathname} ${request.postData() ?? ''}`.trim())
      const isClear = request.url().endsWith('clear')
      status = isClear
        ? { ...status, file_size_bytes: 0 }
        : {
            ...status,
            enabled: true,
            enabled_until: new Date(Date.now() + 600_000).toISOString(),
            file_size_bytes: 12_300_000,
          }
    }
    await route.fulfill({ json: request.method() === 'POST' ? { success: true } : status })
  })
  await opened.button('10 minutes').click()
  await page.getByRole('heading', { name: /^Payload capture is on until .*9.min left/ }).waitFor()
  await page.getByText('data/logger/payloads.jsonl').waitFor()
  await page.getByRole('button', { name: /^Delete…/ }).click()
  await page
    .getByRole('dialog')
    .getByText(/^12\.3.MB of requests and responses will be deleted for good\.$/)
    .waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('In the file: nothing yet.').waitFor()
  assert.deepEqual(asked, ['/api/raw-log/toggle {"enabled":true,"for_s":600}', '/api/raw-log/clear'])
})

test('axe finds nothing in a list that is full, in light and dark, and it fits every width', async () => {
  await using opened = await openLive(await dashboardOver('none'))
  const { page } = opened
  const long = 'x'.repeat(100_000)
  await tell(
    page,
    ...Array.from({ length: 30 }, (_, at) => idOf(at)).flatMap((id) => [
      started(id),
      sampleRequest(id),
      sampleAnswer(id),
    ]),
    started(idOf(50)),
    sampleRequest(idOf(51), { model: long, body: { prompt: long } }),
    sampleAnswer(idOf(51), {
      text: long,
      outcome: 'upstream_error',
      failure_code: 'upstream_http',
      status: 429,
    }),
    { type: 'dropped', count: 3 },
    started(idOf(52)),
  )
  await rowsOf(page).first().waitFor()
  for (const width of [1440, 1024, 768, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await untilStill(page)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, String(width))
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await untilStill(page)
    assert.deepEqual(await violations(page), [], colorScheme)
  }
})

test('what is typed on while the address takes the text is kept', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/live' })
  const { page } = opened
  const field = page.getByLabel('Find in payloads')
  await field.waitFor()
  // A letter comes in the very turn in which the address has those before it.
  await page.evaluate(`{
    const replace = history.replaceState.bind(history)
    history.replaceState = (...parts) => {
      replace(...parts)
      history.replaceState = replace
      const field = document.querySelector('[aria-label="Find in payloads"]')
      field.value += 'r'
      field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }
  }`)
  await field.pressSequentially('wei')
  await page.waitForURL(/text=weir$/)
  assert.equal(await field.inputValue(), 'weir')
  await page.goBack()
  await page.goForward()
  assert.equal(await field.inputValue(), 'weir')
})

test('before the first report of the gateway, calls in progress are not called none', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard)
  const { page } = opened
  const body = `event: gateway\ndata: ${JSON.stringify(runningStatus)}\n\n`
  await page.route('**/api/events?**', (route) => route.fulfill({ contentType: 'text/event-stream', body }))
  await page.goto(`${dashboard.origin}/live`)
  await page.getByText('Loading calls in progress…').waitFor()
})

test('payloads come on a stream of their own, and only to the view that shows them', async () => {
  const dashboard = await dashboardOver('none')
  await using opened = await openDashboardPage(dashboard, { path: '/calls' })
  const { page } = opened
  const topics: (string | null)[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname === '/api/events') topics.push(url.searchParams.get('topics'))
  })
  const other = await page.context().newPage()
  await other.goto(`${dashboard.origin}/calls`)
  const asked = page.waitForRequest(/topics=payloads/)
  await pressInTurn(page, 'gl')
  await asked
  await page.getByRole('heading', { name: 'The gateway is stopped' }).waitFor()
  await untilTrue(page, 'document.title.startsWith("Live")')
  assert.deepEqual(
    topics.filter((topic) => topic?.includes('payloads')),
    ['payloads,live,calls,beat'],
  )
})

test('from a client to the panel, by the real gateway: live, and later from the file', async () => {
  const gate = Promise.withResolvers<void>()
  const delta = (delta: unknown): string => sseEvent({ choices: [{ index: 0, delta }] })
  const call = (rest: object): string => delta({ tool_calls: [{ index: 0, ...rest }] })
  await using upstream = await startSimulatedUpstream()
  // The empty view asks for its models first.
  upstream.replyOnce(bodyReply(['{}']))
  upstream.replyOnce([
    until(gate.promise),
    ...bodyReply(
      [
        delta({ role: 'assistant', content: '' }),
        delta({ reasoning_content: 'Lyon, then.' }),
        delta({ content: 'I look ' }),
        delta({ content: 'it up.' }),
        call({ id: 'call_1', function: { name: 'get_weather', arguments: '{"ci' } }),
        call({ function: { arguments: 'ty":"Lyon"}' } }),
        'data: [DONE]\n\n',
      ],
      { headers: [['Content-Type', 'text/event-stream']] },
    ),
  ])
  await using dashboard = await startDashboardProcess({ args: ['--upstream', upstream.baseUrl] })
  await dashboard.ask('POST', '/api/proxy/start')
  await using opened = await openDashboardPage(dashboard, { path: '/live' })
  const { page } = opened
  await page.locator('.live-told').getByText('Live', { exact: true }).first().waitFor()
  await opened.button('10 minutes').click()
  await page.getByRole('heading', { name: /^Payload capture is on until / }).waitFor()

  const key = `sk-proj-${'Ab3'.repeat(14)}`
  const { port } = await dashboard.status()
  const answered = fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: `In Lyon? ${key}` }],
    }),
  })
  const row = rowsOf(page)
  await row.getByText('Awaiting response').waitFor()
  await row.getByText('In Lyon?').waitFor()
  gate.resolve()
  const id = (await answered).headers.get('x-tokenweir-call-id')
  await row.getByText('I look it up.').waitFor()
  await row.click()
  const body = page.getByRole('dialog')
  const untilWhole = async (): Promise<void> => {
    await body.getByText('"city": "Lyon"').waitFor()
    await body.getByText('Reasoning, 11 characters').waitFor()
    assert.equal((await body.innerText()).includes(key.slice(8)), false)
  }
  await untilWhole()
  await page.keyboard.press('5')
  await body.getByText(/^Bearer hmac:[0-9a-f]{8}\(50\)$/).waitFor()

  // Somebody else, later: what is kept says the same.
  const other = await page.context().newPage()
  await other.goto(`${dashboard.origin}/calls?call=${id}&tab=response`)
  await other.getByRole('dialog').getByText('"city": "Lyon"').waitFor()
  await other.getByRole('region', { name: 'Events' }).getByText('data: [DONE]').waitFor()
  await other.close()
  await page.keyboard.press('2')
  await untilWhole()
})

test('calls that wait are not running, and those that began before the view was opened are there, to their ends', async () => {
  const gate = Promise.withResolvers<void>()
  await using upstream = await startSimulatedUpstream()
  upstream.replyOnce([until(gate.promise), ...bodyReply(['{"id":"x"}'])])
  await using dashboard = await startDashboardProcess({
    args: ['--upstream', upstream.baseUrl, '--max-concurrent', '1', '--slot-cooldown-ms', '0'],
  })
  await dashboard.ask('POST', '/api/proxy/start')
  const { port } = await dashboard.status()
  const call = async (model: string): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model, messages: [] }),
    })
    await answer.text()
  }
  const calls = [call('first')]
  await upstream.waitForInFlight(1)
  calls.push(call('second'))
  await using opened = await openDashboardPage(dashboard, { path: '/live' })
  const { page } = opened
  const row = (model: string): Locator => rowsOf(page).filter({ hasText: model })
  await row('first').getByText('Awaiting response', { exact: true }).waitFor()
  await row('second').getByText('Queued', { exact: true }).waitFor()
  calls.push(call('third'))
  await row('third').getByText('Queued', { exact: true }).waitFor()
  await page.getByText('1 awaiting response, 2 queued', { exact: true }).first().waitFor()
  gate.resolve()
  await Promise.all(calls)
  for (const model of ['first', 'second', 'third']) await row(model).getByText('200').waitFor()
  assert.equal(await rowsOf(page).count(), 3)
})
