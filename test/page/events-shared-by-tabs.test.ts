import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Request } from 'playwright-core'
import { startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'

const tabs = 9

const stateIn = (page: Page, words: string): Promise<void> =>
  page
    .getByRole('link', { name: /^Gateway:/ })
    .getByText(words, { exact: true })
    .first()
    .waitFor()

/** Nobody takes the turn of a tab that is slow to answer: how long that takes is the machine's. */
const patient = `
  const { request } = LockManager.prototype
  LockManager.prototype.request = function (name, options, granted) {
    return options.steal === true ? new Promise(() => {}) : request.call(this, name, options, granted)
  }`

test('nine tabs share one stream; when its tab is closed, another takes it over', async () => {
  await using dashboard = await startDashboardProcess()
  await using browser = await startBrowser()
  const context = await browser.newContext()
  await context.addInitScript(patient)
  const streams: Request[] = []
  context.on('request', (request) => {
    if (request.url().includes('/api/events')) streams.push(request)
  })
  const pages: Page[] = []
  for (let at = 0; at < tabs; at += 1) {
    const page = await context.newPage()
    pages.push(page)
    // A browser has six connections for them all: the seventh stream would leave none for the rest.
    await page.goto(`${dashboard.origin}/gateway`)
    await stateIn(page, 'Stopped')
  }
  assert.equal(streams.length, 1)

  await dashboard.ask('POST', '/api/proxy/start')
  await Promise.all(pages.map((page) => stateIn(page, 'Running')))
  assert.equal(streams.length, 1)

  const holder = streams[0]?.frame().page()
  assert.ok(holder !== undefined)
  await holder.close()
  const others = pages.filter((page) => page !== holder)
  await dashboard.ask('POST', '/api/proxy/stop')
  await Promise.all(others.map((page) => stateIn(page, 'Stopped')))
  assert.equal(streams.length, 2)

  // A newcomer is told how things are, though nothing changes.
  const newcomer = await context.newPage()
  await newcomer.goto(`${dashboard.origin}/gateway`)
  await stateIn(newcomer, 'Stopped')
  assert.equal(streams.length, 2)
  await context.close()
})

test('a tab that holds the stream and says nothing loses it', async () => {
  await using dashboard = await startDashboardProcess()
  await using browser = await startBrowser()
  const context = await browser.newContext()
  const frozen = await context.newPage()
  await frozen.goto(`${dashboard.origin}/gateway`)
  await stateIn(frozen, 'Stopped')
  const debug = await context.newCDPSession(frozen)
  await debug.send('Debugger.enable')
  await debug.send('Debugger.pause')
  void frozen.evaluate('0').catch(() => undefined)
  const newcomer = await context.newPage()
  await newcomer.goto(`${dashboard.origin}/gateway`)
  await stateIn(newcomer, 'Stopped')

  await debug.send('Debugger.disable')
  await dashboard.ask('POST', '/api/proxy/start')
  await Promise.all([frozen, newcomer].map((page) => stateIn(page, 'Running')))
  await context.close()
})

test('a browser so busy that a tab takes its turn twice leaves it with the stream', async () => {
  await using dashboard = await startDashboardProcess()
  await using browser = await startBrowser()
  const context = await browser.newContext()
  // The first request for the lock reaches the browser only when the tab has lost patience with it.
  await context.addInitScript(`
    const { request } = LockManager.prototype
    let ask
    LockManager.prototype.request = function (name, options, granted) {
      if (options.steal !== true) {
        return new Promise((resolve, reject) => {
          ask = () => request.call(this, name, options, granted).then(resolve, reject)
        })
      }
      ask()
      return request.call(this, name, options, granted)
    }`)
  const page = await context.newPage()
  await page.goto(`${dashboard.origin}/gateway`)
  await stateIn(page, 'Stopped')
  await dashboard.ask('POST', '/api/proxy/start')
  await stateIn(page, 'Running')
  await context.close()
})

test('a browser that gives no locks has a stream for each tab', async () => {
  await using dashboard = await startDashboardProcess()
  await using browser = await startBrowser()
  const context = await browser.newContext()
  await context.addInitScript('LockManager.prototype.request = () => Promise.reject(new Error("no storage"))')
  const pages = [await context.newPage(), await context.newPage()]
  await Promise.all(pages.map((page) => page.goto(`${dashboard.origin}/gateway`)))
  await Promise.all(pages.map((page) => stateIn(page, 'Stopped')))
  await dashboard.ask('POST', '/api/proxy/start')
  await Promise.all(pages.map((page) => stateIn(page, 'Running')))
  await dashboard.ask('POST', '/api/proxy/stop')
  await context.close()
})
