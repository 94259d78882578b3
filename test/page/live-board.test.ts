/** The calls under way, at the top of the Live view, in a real browser before a real gateway. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { requestBytes } from '../support/exchange.ts'
import { type RawClient, openRawClient } from '../support/raw-client.ts'
import { type ReplyStep, stall, until, write } from '../support/reply-step.ts'
import { chunkFrame, lastChunk, responseHead, sseEvent } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { violations } from './axe-violations.ts'
import { openDashboardPage, untilStill, untilTrue } from './dashboard-page.ts'

const boardOf = (page: Page): Locator => page.getByRole('list', { name: 'Calls in progress, oldest first' })
const rowOf = (page: Page, model: string): Locator =>
  boardOf(page).getByRole('listitem').filter({ hasText: model })

function stream(...rest: ReplyStep[]): ReplyStep[] {
  const head = responseHead(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ])
  const event = sseEvent({ choices: [{ index: 0, delta: { content: 'w' }, finish_reason: null }] })
  return [write(head), write(chunkFrame(event)), ...rest]
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
  const below = page.getByRole('list', { name: 'Calls, newest first' })
  await below
    .getByRole('link', { name: /streams/ })
    .getByText('Cancelled')
    .waitFor()

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
  assert.ok((await boardOf(page).getByRole('listitem').count()) < 60)
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
  assert.deepEqual(await violations(page), [])
})
