/** All pairs of a place that names an upstream and a place that has a key: which key is sent to which. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { mayHaveKey } from '../../src/options/upstream-key.ts'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { writeUpstreams } from '../support/upstreams-file.ts'
import { makeWorkplace } from './workplace.ts'

const lent = 'key-of-the-default-upstream'
const client = 'Bearer key-of-the-client'
const env = { ...process.env, UPSTREAM_API_KEY: lent, OWN_KEY: 'key-of-a-variable' }

/** Further upstreams, and what each is sent in a call without and with a credential of its client. */
const further = {
  none: { credentials: 'none', sent: ['', ''] },
  client: { credentials: 'client', sent: ['', client] },
  lent: { credentials: { env: 'UPSTREAM_API_KEY' }, sent: [`Bearer ${lent}`, `Bearer ${lent}`] },
  own: { credentials: { env: 'OWN_KEY' }, sent: ['Bearer key-of-a-variable', 'Bearer key-of-a-variable'] },
  file: { credentials: { file: 'key.txt' }, sent: ['Bearer key-of-a-file', 'Bearer key-of-a-file'] },
} as const
type Further = keyof typeof further
const names = Object.keys(further) as Further[]

/** Whether the default upstream that this place names may have the key that its starter has. */
const places = { flag: true, 'a start by hand': true, 'gateway.json': false, 'a request': false } as const

async function startUpstreams() {
  await using cleanup = new AsyncDisposableStack()
  const reply = { reply: () => jsonReply(200, {}) }
  const byDefault = cleanup.use(await startSimulatedUpstream(reply))
  const others = await Promise.all(
    names.map(async (name) => ({ name, upstream: cleanup.use(await startSimulatedUpstream(reply)) })),
  )
  const owned = cleanup.move()
  return {
    byDefault,
    others,
    write(folder: string) {
      writeFileSync(join(folder, 'key.txt'), 'key-of-a-file\n')
      const named = others.map(({ name, upstream }) => {
        return { name, urls: [upstream.origin], credentials: further[name].credentials }
      })
      writeUpstreams(folder, named)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

type Upstreams = Awaited<ReturnType<typeof startUpstreams>>

async function assertSent(
  { byDefault, others }: Upstreams,
  port: number,
  lendsDefault: boolean,
): Promise<void> {
  const all = [
    { path: '', upstream: byDefault, sent: [lendsDefault ? `Bearer ${lent}` : '', client] },
    ...others.map(({ name, upstream }) => ({ path: `/${name}`, upstream, sent: further[name].sent })),
  ]
  for (const { path, upstream, sent } of all) {
    for (const [withCredential, expected] of sent.entries()) {
      const headers = withCredential === 1 ? ([['Authorization', client]] as const) : []
      const seen = upstream.requests.length
      const target = `${path}/v1/chat/completions`
      await exchange(port, 'POST', target, { headers, host: 'localhost', body: '{"model":"m"}' })
      const { rawHeaders, headBytes } = await upstream.waitForRequest(seen)
      const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'authorization')
      assert.equal(at < 0 ? '' : rawHeaders[at + 1], expected, `${target}, ${withCredential}`)
      // None is there in another place either.
      const all = headBytes.toString('latin1').match(/key-of-[a-z-]+/g) ?? []
      assert.equal(all.length, expected === '' ? 0 : 1)
    }
  }
}

for (const [place, lendsDefault] of Object.entries(places)) {
  test(`keys go where they belong, with a default upstream of ${place}`, async () => {
    await using upstreams = await startUpstreams()
    const url = `${upstreams.byDefault.origin}/v1`
    if (place === 'a start by hand') {
      await using dir = await makeTempDir()
      upstreams.write(dir.path)
      await using gateway = await startGatewayProcess({ upstream: url, directory: dir.path, env })
      await assertSent(upstreams, gateway.port, lendsDefault)
      return
    }
    await using workplace = await makeWorkplace()
    upstreams.write(workplace.folder)
    const args = ['--port=0', ...(place === 'flag' ? [`--upstream=${url}`] : [])]
    const supervisor = workplace.supervisor({ args, env })
    if (place === 'gateway.json')
      writeFileSync(workplace.file('gateway.json'), JSON.stringify({ upstream: url }))
    const { port } = await supervisor.start(place === 'a request' ? { upstream: url } : {})
    await assertSent(upstreams, port ?? 0, lendsDefault)
    // A restart goes on as it was.
    const restarted = await supervisor.restart()
    await assertSent(upstreams, restarted.port ?? 0, lendsDefault)
  })
}

test('origins are compared, not spellings', () => {
  const named = 'https://api.example.com/v1'
  for (const same of ['https://api.example.com', 'https://API.example.com:443/other', named]) {
    assert.ok(mayHaveKey(same, named), same)
  }
  for (const other of [
    'http://api.example.com/v1',
    'https://api.example.com:8443/v1',
    'https://api.example.com.evil.example/v1',
    'https://api.example.com@evil.example/v1',
    'https://evil.example/api.example.com',
    'not an address',
  ]) {
    assert.ok(!mayHaveKey(other, named), other)
  }
})
