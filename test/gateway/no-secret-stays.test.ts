import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { openFeed } from '../support/feed-reader.ts'
import { filesBelow } from '../support/files-below.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rawLogOf } from '../support/raw-log.ts'
import { untilNoted } from '../support/open-calls.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { until, write } from '../support/reply-step.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { keys } from '../support/sample-keys.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'

/** Values that only the name beside them makes a credential. */
const bare = [
  ['Authentication', 'Qz7Kp2Wv9Lm4Xc1B'],
  ['X-JWT', 'Rt6Yh3Nj8Us5Df2G'],
  ['X-Session-Id', 'Vb9Gt4Hy7Mk1Po3Z'],
  ['Helicone-Auth', 'Ec8Rf5Tg2Yh9Uj4K'],
  ['X-Figma-Token', 'Wd3Sx6Zq9Ea5Rv1T'],
  ['X-Api-Key', 'xkey-77aa88bb99cc00dd11ee'],
  ['Cookie', 'session=c00kie5ecret'],
] as const
const inQuery = 'Uk5Wq8Zn2Xv7Bm4J'

test('a key stands in no file, feed, log or answer, wherever a client or an upstream puts it', async () => {
  const credentials = Object.entries(keys).map(([name, key]) =>
    name === 'Slack webhook' ? `https://hooks.slack.com/services/${key}` : key,
  )
  const asked = Promise.withResolvers<undefined>()
  await using upstream = await startSimulatedUpstream({
    reply: ({ index }) => {
      const key = credentials[index] ?? ''
      const error = { code: key, type: key, message: `${key} is revoked` }
      const headers = [['X-Request-Id', key] as const, ['X-Note', `for ${key}`] as const]
      return [
        until(asked.promise),
        ...(index % 2 === 0
          ? jsonReply(400, { error }, headers)
          : jsonReply(
              200,
              {
                model: key,
                service_tier: key,
                choices: [
                  {
                    finish_reason: key,
                    message: { content: key, tool_calls: [{ function: { name: key } }] },
                  },
                ],
              },
              headers,
            )),
      ]
    },
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.origin,
    args: ['--max-concurrent', '1000', '--slot-cooldown-ms', '0', '--raw-log'],
  })
  using feed = await openFeed(gateway.port)

  const answers = []
  for (const [i, key] of credentials.entries()) {
    const inPath = encodeURI(key)
    const target =
      i % 3 === 0 ? `/v1/files/${inPath}/content?k=${inPath}` : `/v1/chat/completions?k=${inPath}`
    const headers = [
      ['Authorization', `Bearer ${key}`],
      ['User-Agent', `${key}/1.0 agent`],
      ['x-tokenweir-client', key],
      ['x-tokenweir-session', key],
      ['x-tokenweir-tag-a', key],
      ['x-litellm-tags', `${key},b:${key}`],
      ['X-Note', key],
      ...bare,
    ] as const
    const body = JSON.stringify({
      model: key,
      user: key,
      metadata: { [key]: 'a', b: key },
      messages: [{ role: 'user', content: `use ${key} please` }],
    })
    answers.push(exchange(gateway.port, 'POST', `${target}&api_key=${inQuery}`, { headers, body }))
    await upstream.waitForRequest(i)
  }
  await untilNoted(gateway.databaseFile, credentials.length)
  const whileTheyRun = await filesBelow(gateway.directory)
  asked.resolve(undefined)
  await Promise.all(answers)
  const calls = await recordedCalls(gateway, credentials.length)
  await feed.waitForRecords(2 * credentials.length)
  const recent = await rawLogOf(gateway).recent()
  assert.equal(recent.length, 2 * credentials.length)
  const told = JSON.stringify([calls, recent, feed.events, await gateway.health()])
  await gateway.stop()
  const texts = [
    { name: 'what it tells', bytes: Buffer.from(told + gateway.stdout + gateway.stderr) },
    ...whileTheyRun,
    ...(await filesBelow(gateway.directory)),
  ]
  const secrets = [...Object.values(keys), ...bare.map(([, value]) => value), inQuery]
  const left = texts.flatMap(({ name, bytes }) =>
    // Nor in part: half of it would do for a guess.
    secrets
      .filter((key) => bytes.includes(key.slice(0, 24)) || bytes.includes(key.slice(-16)))
      .map((key) => `${key} in ${name}`),
  )
  assert.deepEqual(left, [])
})

test('of a key in an error that is too long to be kept whole no part stays', async () => {
  const key = 'sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z'
  // Its end lies beyond the 500th character.
  const message = `${'x '.repeat(235)} key ${key} is revoked`
  await using upstream = await startSimulatedUpstream({
    reply: ({ index }) =>
      index === 0
        ? jsonReply(400, { error: { message } })
        : [
            write(
              `HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain\r\nContent-Length: ${message.length}\r\n\r\n${message}`,
            ),
          ],
  })
  await using gateway = await startGatewayProcess({ upstream: upstream.origin })
  for (const _ of [0, 1]) await exchange(gateway.port, 'POST', '/v1/chat/completions', { body: '{}' })
  const calls = await recordedCalls(gateway, 2)
  for (const { error_message: told } of calls) {
    assert.equal(told?.length, message.indexOf(key) + '[secret]'.length + ' is revoked'.length)
    assert.ok(!told.includes(key.slice(0, 4)))
  }
})

test('a credential without a known form stays in no row, although the upstream repeats it', async () => {
  const sent = [
    ['Authorization', 'Bearer ', 'plain-words-as-a-key'],
    ['x-api-key', '', 'another-of-words'],
    ['X_Gateway_Key', '', 'third/key=of.words'],
    ['X-Passphrase', '', 'correct-horse-battery'],
  ] as const
  const ownKey = 'lent-key-of-words'
  await using upstream = await startSimulatedUpstream({
    reply: ({ index }) => {
      const key = sent[index]?.[2] ?? ownKey
      return jsonReply(401, { error: { code: `no ${key}`, message: `We do not know ${key} here.` } })
    },
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.origin,
    env: { UPSTREAM_API_KEY: ownKey },
  })
  const headers = [...sent.map(([name, scheme, key]) => [[name, scheme + key] as const]), []]
  for (const each of headers)
    await exchange(gateway.port, 'POST', '/v1/chat/completions', {
      headers: each,
      host: 'localhost',
      body: '{}',
    })
  const calls = await recordedCalls(gateway, headers.length)
  assert.deepEqual(
    calls.map(({ upstream_error_code: code, error_message: message }) => [code, message]),
    headers.map(() => ['no [secret]', 'We do not know [secret] here.']),
  )
})
