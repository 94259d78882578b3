import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { exchange } from '../../../test/support/exchange.ts'
import { FakeClock } from '../../../test/support/fake-clock.ts'
import type { CallStart } from '../../call/call.ts'
import { CallIds } from '../../call/call-id.ts'
import type { Upstreams } from '../routing/upstreams.ts'
import { ClientLabels } from './client-labels.ts'
import { CallHandler, type CallHandlerOptions } from './handle-call.ts'
import { RequestHead } from '../http/request-head.ts'
import type { UpstreamBase } from '../http/target.ts'

function upstreamsAt(base: UpstreamBase): Upstreams {
  const endpoint = { base, keyHeader: [], stripsCredentials: false }
  return {
    default: { name: 'default', endpoint },
    areSeveral: false,
    drain: () => {},
  } as unknown as Upstreams
}

/** The outcome of one call in a gateway of which some part fails. */
async function callWith(faulty: Partial<CallHandlerOptions>) {
  const lost: (CallStart | null)[] = []
  const faults: unknown[] = []
  const handler = new CallHandler({
    clock: new FakeClock(),
    instance: 'i',
    ids: new CallIds(() => 0, 0),
    labels: new ClientLabels(Buffer.from('salt of a test')),
    upstreams: upstreamsAt({ origin: 'http://127.0.0.1:1', host: '127.0.0.1:1', pathPrefix: '', query: '' }),
    budget: { check: () => {} },
    clients: { nameOf: () => null, budgetOf: () => null },
    sink: { begin: () => Promise.resolve(), lose: (call: CallStart | null) => lost.push(call) },
    rawLog: { isOpen: false },
    limits: {},
    onFault: (error: unknown) => faults.push(error),
    ...faulty,
  } as unknown as CallHandlerOptions)
  let thrown: unknown = null
  let over: Promise<void> = Promise.resolve()
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const head = new RequestHead(req.rawHeaders, req.httpVersion)
    const target = { path: '/v1/models', query: '' }
    try {
      over = handler.handle({ req, res, head, target, upstream: null })
    } catch (error) {
      thrown = error
      res.end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    const { status } = await exchange(port, 'GET', '/v1/models', { headers: [['Authorization', 'Bearer x']] })
    await over
    return { thrown, lost, faults, status }
  } finally {
    server.close()
  }
}

const fault = new Error('a fault')
const fail = (): never => {
  throw fault
}

test('a call that cannot be recorded is answered, and counted as dropped', async () => {
  const base = {
    origin: '',
    pathPrefix: '',
    query: '',
    get host(): string {
      return fail()
    },
  }
  const { status, lost, faults, thrown } = await callWith({ upstreams: upstreamsAt(base) })
  assert.equal(status, 500)
  assert.equal(lost.length, 1)
  assert.equal(typeof lost[0]?.id, 'number')
  assert.deepEqual([faults, thrown], [[fault], null])
})

test('a call that cannot even be begun is counted as dropped, and left to whoever has its connection', async () => {
  const ids = { next: fail } as unknown as CallIds
  const { lost, faults, thrown } = await callWith({ ids })
  assert.deepEqual([lost, faults, thrown], [[null], [fault], fault])
})
