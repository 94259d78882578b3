import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAttackerServer } from '../page/attacker-server.ts'
import { startBrowser } from '../support/browser.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rawLogOf } from '../support/raw-log.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

const bait = 'a-prompt-that-no-page-may-read'

const waysToRead = ['plainFetch', 'withCredentials', 'opaqueGet', 'script', 'frame', 'eventSource']
const waysToAct = ['plainFetch', 'noCors', 'noCorsEmpty', 'jsonBody', 'beacon', 'form', 'textForm']

test('no page of another site reads payloads, or switches or clears anything', async () => {
  await using upstream = await startSimulatedUpstream()
  await using gateway = await startGatewayProcess({ upstream: upstream.origin, args: ['--raw-log'] })
  await using attacker = await startAttackerServer()
  await using browser = await startBrowser({
    hostRules: ['MAP attacker.test 127.0.0.1', 'MAP rebound.test 127.0.0.1'],
  })
  const log = rawLogOf(gateway)
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: bait }] })
  await exchange(gateway.port, 'POST', '/v1/chat/completions', { body })
  while ((await log.recent()).length < 2);
  const before = await log.recent()

  const context = await browser.newContext()
  const statuses = new Map<string, Set<number>>()
  context.on('response', (response) => {
    const { pathname, port } = new URL(response.url())
    if (Number(port) !== gateway.port || response.request().method() === 'OPTIONS') return
    statuses.set(pathname, (statuses.get(pathname) ?? new Set()).add(response.status()))
  })
  for (const host of ['attacker.test', '127.0.0.1']) {
    const page = await context.newPage()
    await page.goto(`http://${host}:${attacker.port}/`)
    await page.waitForFunction('typeof attack === "function"')
    const attack = (way: string, origin: string, name: string, method: string): Promise<string> => {
      const args = [way, `${origin}/v1/raw-log/${name}`, method].map((text) => JSON.stringify(text))
      return page.evaluate<string>(`attack(${args.join()})`)
    }
    for (const name of ['recent', 'stream', 'status']) {
      const read = await Promise.all(waysToRead.map((way) => attack(way, gateway.origin, name, 'GET')))
      assert.deepEqual(
        read.filter((text) => text !== ''),
        [],
        `${name} from ${host}`,
      )
    }
    for (const name of ['toggle', 'clear']) {
      const read = await Promise.all(waysToAct.map((way) => attack(way, gateway.origin, name, 'POST')))
      assert.deepEqual(
        read.filter((text) => text !== ''),
        [],
        `${name} from ${host}`,
      )
    }
    // A page of its own, to which this one leads.
    assert.equal(await attack('popup', gateway.origin, 'recent', 'GET'), '')
  }
  // A name that leads to this machine: for the browser such a page is the gateway's own.
  const rebound = await context.newPage()
  const answer = await rebound.goto(`http://rebound.test:${gateway.port}/v1/raw-log/recent`)
  assert.equal(answer?.status(), 403)
  assert.doesNotMatch(await rebound.content(), new RegExp(bait))
  for (const name of ['recent', 'stream', 'status', 'toggle', 'clear']) {
    assert.deepEqual([...(statuses.get(`/v1/raw-log/${name}`) ?? [])], [403], name)
  }

  // Who types the address himself reads it.
  const own = await context.newPage()
  assert.equal((await own.goto(`${gateway.origin}/v1/raw-log/status`))?.status(), 200)
  assert.deepEqual(await log.recent(), before)
  assert.equal((await log.status())['enabled'], true)
})
