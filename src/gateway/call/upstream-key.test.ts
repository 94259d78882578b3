import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { HeaderNames } from '../../lib/header-list.ts'
import { ThisMachine } from '../../lib/this-machine.ts'
import { SecretToken } from '../../lib/secret-token.ts'
import { readRequestHead } from '../http/request-head.ts'
import { TrustedClients } from '../http/trusted-clients.ts'
import { UpstreamKey } from './upstream-key.ts'

const trusted = new TrustedClients(new ThisMachine(false), new SecretToken('the admin token'))

for (const [host, header] of [
  ['api.openai.com', ['Authorization', 'Bearer k']],
  ['api.anthropic.com', ['x-api-key', 'k']],
  ['api.anthropic.com.example', ['Authorization', 'Bearer k']],
] as const) {
  test(`the key is lent to ${host} as ${header[0]}`, async () => {
    const raw = ['Host', 'a', 'x-tokenweir-admin-token', 'the admin token']
    const head = readRequestHead(raw, new HeaderNames(), (value) => value, '1.1')
    const key = new UpstreamKey('k', host, trusted)
    assert.equal(key.isWantedBy(head), true)
    await key.lendTo(head, new Socket())
    assert.deepEqual(head.endToEnd, header)
  })
}
