import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { BrowserContext, Frame, Page, Request } from 'playwright-core'
import { type TestBrowser, startBrowser } from '../support/browser.ts'
import { Condition } from '../support/condition.ts'
import { type DashboardProcess, startDashboardProcess } from '../support/dashboard-process.ts'
import { exchange } from '../support/exchange.ts'
import { freePort } from '../support/free-port.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rawLogOf } from '../support/raw-log.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { type AttackerServer, bait, startAttackerServer } from './attacker-server.ts'

const canary = 'canary-line-of-the-log'

type Deed = readonly [method: string, path: string]

const deeds: readonly Deed[] = [
  ['POST', '/api/proxy/start'],
  ['POST', '/api/proxy/restart'],
  ['POST', '/api/proxy/stop'],
  ['POST', '/api/proxy/clear-logs'],
  ['PUT', '/api/proxy/config'],
  ['POST', '/api/session'],
  ['DELETE', '/api/session'],
]

/** What would start a gateway that is stopped. */
const starts = deeds.slice(0, 2)

const views = [
  '/',
  '/api/proxy/status',
  '/api/proxy/config',
  '/api/proxy/logs',
  '/api/events?topics=gateway,log',
]

const waysToAct = [
  'plainFetch',
  'textBody',
  'noCors',
  'noCorsEmpty',
  'noCorsKeptAlive',
  'jsonBody',
  'withCredentials',
  'beacon',
  'form',
  'textForm',
]

const waysToRead = [
  'plainFetch',
  'withCredentials',
  'opaqueGet',
  'image',
  'script',
  'styleSheet',
  'frame',
  'eventSource',
]

const hostRules = ['MAP attacker.test 127.0.0.1', 'MAP rebound.test 127.0.0.1']

/** What an attack might change, and must not. */
interface Standing {
  readonly state: string
  readonly pid: number | null
  readonly options: unknown
  readonly log: boolean
}

async function standingOf(dashboard: DashboardProcess): Promise<Standing> {
  const { state, pid } = await dashboard.status()
  const config: unknown = await (await dashboard.ask('GET', '/api/proxy/config')).json()
  const log = readFileSync(`${dashboard.directory}/data/proxy.log`, 'utf8')
  return { state, pid, options: config, log: log.includes(canary) }
}

/** Keeps count of a context's requests that may change something, to wait until none is under way. */
class Traffic {
  readonly statuses = new Map<string, Set<number>>()
  readonly #open = new Set<Request>()
  readonly #condition = new Condition()

  constructor(context: BrowserContext, origin: string) {
    context.on('request', (request) => {
      if (request.method() !== 'GET') this.#open.add(request)
    })
    context.on('response', (response) => {
      const { method, url } = { method: response.request().method(), url: response.url() }
      if (!url.startsWith(origin)) return
      const key = `${method} ${url.slice(origin.length)}`
      this.statuses.set(key, (this.statuses.get(key) ?? new Set()).add(response.status()))
    })
    const onEnd = (request: Request): void => {
      this.#open.delete(request)
      this.#condition.changed()
    }
    context.on('requestfinished', onEnd)
    context.on('requestfailed', onEnd)
  }

  async settled(): Promise<void> {
    await this.#condition.until(() => this.#open.size === 0 || undefined, 'the attacks to be over')
  }
}

/** The places from which another site's page can act: pages of it, and frames of no origin. */
async function openPlaces(
  context: BrowserContext,
  attacker: AttackerServer,
): Promise<Map<string, Page | Frame>> {
  const places = new Map<string, Page | Frame>()
  for (const [name, host] of [
    ['cross-site', 'attacker.test'],
    ['same-site', '127.0.0.1'],
  ] as const) {
    const page = await context.newPage()
    await page.goto(`http://${host}:${attacker.port}/`)
    places.set(name, page)
    if (name === 'same-site') continue
    for (const frame of ['sandboxed', 'data']) places.set(`${frame} frame`, page.frame(frame)!)
  }
  for (const place of places.values()) await place.waitForFunction('typeof attack === "function"')
  return places
}

async function run(place: Page | Frame, way: string, url: string, method: string): Promise<string> {
  return place.evaluate<string>(`attack(${[way, url, method].map((text) => JSON.stringify(text)).join()})`)
}

/** Every way to act on these routes, and what could be read by any. */
async function act(place: Page | Frame, origin: string, routes: readonly Deed[] = deeds): Promise<string[]> {
  const texts: string[] = []
  for (const [method, path] of routes) {
    texts.push(...(await Promise.all(waysToAct.map((way) => run(place, way, origin + path, method)))))
  }
  return texts.filter((text) => text !== '')
}

/** Every way to read every route, and what could be read by any. */
async function look(
  place: Page | Frame,
  origin: string,
  paths: readonly string[] = views,
): Promise<string[]> {
  const texts: string[] = []
  for (const path of paths) {
    texts.push(...(await Promise.all(waysToRead.map((way) => run(place, way, origin + path, 'GET')))))
  }
  // Last, because it hides the page, and a browser lets a hidden page wait.
  for (const path of paths.slice(0, 2)) texts.push(await run(place, 'popup', origin + path, 'GET'))
  return texts.filter((text) => text !== '')
}

async function withPlaces(
  browser: TestBrowser,
  attacker: AttackerServer,
  origin: string,
  attackFrom: (name: string, place: Page | Frame, traffic: Traffic) => Promise<void>,
): Promise<Traffic> {
  const context = await browser.newContext()
  const traffic = new Traffic(context, origin)
  const places = await openPlaces(context, attacker)
  for (const [name, place] of places) {
    await ('page' in place ? place.page() : place).bringToFront()
    await attackFrom(name, place, traffic)
  }
  await context.close()
  return traffic
}

test('the attacks are real: a careless server is changed by each, and read by those that can', async () => {
  await using attacker = await startAttackerServer()
  await using browser = await startBrowser({ hostRules })
  const victim = `http://localhost:${attacker.port}/victim`
  await withPlaces(browser, attacker, victim, async (name, place, traffic) => {
    for (const way of waysToAct) {
      const before = attacker.deeds
      await run(place, way, victim, 'POST')
      await traffic.settled()
      assert.equal(attacker.deeds, before + 1, `${way} from ${name}`)
    }
    for (const way of ['plainFetch', 'withCredentials', 'eventSource']) {
      assert.equal(await run(place, way, victim, 'GET'), bait, `${way} from ${name}`)
    }
  })
})

for (const state of ['running', 'stopped'] as const) {
  test(`gateway ${state}: no page of another site changes or reads anything`, async () => {
    await using attacker = await startAttackerServer()
    await using dashboard = await startDashboardProcess()
    await using browser = await startBrowser({ hostRules })
    if (state === 'running') await dashboard.ask('POST', '/api/proxy/start')
    appendFileSync(`${dashboard.directory}/data/proxy.log`, `${canary}\n`)
    const before = await standingOf(dashboard)
    assert.deepEqual([before.state, before.log], [state, true])

    const { origin } = dashboard
    const routes = state === 'running' ? deeds : starts
    const traffic = await withPlaces(browser, attacker, origin, async (name, place, traffic) => {
      assert.deepEqual(await act(place, origin, routes), [], `read from ${name}`)
      if (state === 'running') assert.deepEqual(await look(place, origin), [], `read from ${name}`)
      await traffic.settled()
      assert.deepEqual(await standingOf(dashboard), before, `attacked from ${name}`)
    })
    // The guard refused them: they did not fail for another reason.
    for (const [, path] of routes) {
      assert.deepEqual([...(traffic.statuses.get(`POST ${path}`) ?? [])], [403], path)
    }
  })
}

test('a name that was rebound to this machine: page, API and health are refused', async () => {
  await using attacker = await startAttackerServer(await freePort())
  await using browser = await startBrowser({ hostRules })
  const context = await browser.newContext()
  const page = await context.newPage()
  const rebound = `http://rebound.test:${attacker.port}`
  await page.goto(rebound)
  await page.waitForFunction('typeof attack === "function"')
  // From here on the attacker's name leads to the dashboard, for the browser as for a name server.
  await attacker.close()
  await using dashboard = await startDashboardProcess({ port: attacker.port })
  await dashboard.ask('POST', '/api/proxy/start')
  appendFileSync(`${dashboard.directory}/data/proxy.log`, `${canary}\n`)
  const before = await standingOf(dashboard)

  const read = [...(await act(page, rebound)), ...(await look(page, rebound))]
  assert.ok(read.length > 0)
  for (const text of read) {
    assert.match(text, /^\{"error":\{"code":"forbidden_host"|^SyntaxError/)
    assert.doesNotMatch(text, new RegExp(canary))
  }
  assert.deepEqual(await standingOf(dashboard), before)
  assert.equal((await page.goto(rebound))?.status(), 403)

  const health = await page.goto(`http://rebound.test:${(await dashboard.status()).port}/health`)
  assert.equal(health?.status(), 403)
  assert.doesNotMatch(await health.text(), /rate_limiter/)
})

test('no page of another site reads payloads of the gateway, or switches or clears them', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.origin, args: ['--raw-log'] })
  await using attacker = await startAttackerServer()
  await using browser = await startBrowser({ hostRules })
  const { origin, port } = gateway
  const log = rawLogOf(gateway)
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: canary }] })
  await exchange(port, 'POST', '/v1/chat/completions', { body })
  while ((await log.recent()).length < 2);
  const before = await log.recent()

  const toRead = ['recent', 'status', 'stream'].map((name) => `/v1/raw-log/${name}`)
  const toDo = ['toggle', 'clear'].map((name): Deed => ['POST', `/v1/raw-log/${name}`])
  const { statuses } = await withPlaces(browser, attacker, origin, async (name, place, traffic) => {
    assert.deepEqual(await act(place, origin, toDo), [], `read from ${name}`)
    assert.deepEqual(await look(place, origin, toRead), [], `read from ${name}`)
    await traffic.settled()
  })
  for (const [method, path] of [...toDo, ...toRead.map((path): Deed => ['GET', path])])
    assert.deepEqual([...(statuses.get(`${method} ${path}`) ?? [])], [403], path)

  const context = await browser.newContext()
  const rebound = await context.newPage()
  // A name that leads to this machine: for the browser such a page is the gateway's own.
  assert.equal((await rebound.goto(`http://rebound.test:${port}/v1/raw-log/recent`))?.status(), 403)
  assert.doesNotMatch(await rebound.content(), new RegExp(canary))
  // A person who types the address reads it.
  const own = await context.newPage()
  assert.equal((await own.goto(`${origin}/v1/raw-log/status`))?.status(), 200)
  assert.deepEqual(await log.recent(), before)
  assert.equal((await log.status())['enabled'], true)
})
