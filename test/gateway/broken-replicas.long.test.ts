/** Replicas that answer badly. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UpstreamSetting } from '../../src/options/upstream-settings.ts'
import { exchange } from '../support/exchange.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { type ReplyScript, cut, reset, wait, write } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams, untilUpstreams } from '../support/upstreams-file.ts'

const body = JSON.stringify({ model: 'm', messages: [] })
const good = (): ReplyScript => [wait(100), ...jsonReply(200, { id: 'x', choices: [{}] })]

function chat(gateway: GatewayProcess, name = '') {
  return exchange(gateway.port, 'POST', `${name}/v1/chat/completions`, { body })
}

const brokenAnswers: Readonly<Record<string, ReplyScript>> = {
  ...Object.fromEntries(
    [500, 502, 503, 504, 529].map((status) => [`answers-${status}`, jsonReply(status, { error: 'no' })]),
  ),
  closes: [cut()],
  resets: [reset()],
  'no-http': [write('nonsense\r\n\r\n')],
}
const width = 4
const each = 10

test('a replica that fails each call at once gets few of them, with a fallback, too', async () => {
  await using cleanup = new AsyncDisposableStack()
  const works = cleanup.use(await startSimulatedUpstream({ reply: good }))
  const broken = await Promise.all(
    Object.entries(brokenAnswers).map(async ([name, reply]) => {
      return { name, upstream: cleanup.use(await startSimulatedUpstream({ reply: () => reply })) }
    }),
  )
  const named = broken.flatMap(({ name, upstream: { origin } }): UpstreamSetting[] => [
    { name, urls: [origin, works.origin] },
    { name: `${name}-falls`, urls: [origin, works.origin], fallback: 'default' },
  ])
  const gateway = cleanup.use(await startGatewayOfUpstreams({ upstream: works.origin, named }))
  await Promise.all(
    named.flatMap(({ name }) =>
      Array.from({ length: width }, async () => {
        for (let i = 0; i < each; i++) await chat(gateway, `/${name}`)
      }),
    ),
  )
  // A busy machine may take so long that it is tried again, after one, two and four seconds.
  const most = 2 * 4 * width
  const drawn = broken.filter(({ upstream }) => upstream.requests.length > most)
  assert.deepEqual(
    drawn.map(({ name, upstream }) => `${name}: ${upstream.requests.length} of ${2 * width * each}`),
    [],
  )
  await untilUpstreams(gateway, 'they are told', (upstreams) =>
    upstreams
      .slice(1)
      .every(({ replicas: [first, second] }) => first?.state === 'failing' && second?.state === 'up'),
  )
})
