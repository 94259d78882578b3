import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { ThisMachine } from './this-machine.ts'

const plain = { host: 'localhost', origin: null, secFetchSite: null, forwardedFor: false }
const ourUser = process.geteuid?.() ?? 1000
const otherUser = ourUser + 1

/** What a socket tells of its ends; nothing else of it is looked at. */
function socketFrom(remoteAddress: string | undefined): Socket {
  return { remoteAddress, remotePort: 50_000, localAddress: '127.0.0.1', localPort: 9090 } as Socket
}

/** A system that says so of every socket, and counts how often it is asked. */
class Owners {
  asked = 0
  readonly #answers: (number | null | Error)[]

  constructor(...answers: (number | null | Error)[]) {
    this.#answers = answers
  }

  ownerOf(): Promise<number | null> {
    const answer = this.#answers[this.asked++]
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer ?? null)
  }
}

for (const [whose, owner, expected] of [
  ['our own user', ourUser, true],
  ['root', 0, true],
  ['another user', otherUser, false],
  ['nobody that is found', null, false],
] as const) {
  test(`a loopback peer that is ${whose} ${expected ? 'is' : 'is not'} this machine, and is looked up once`, async () => {
    const owners = new Owners(owner)
    const machine = new ThisMachine(true, owners)
    const socket = socketFrom('127.0.0.1')
    for (let request = 0; request < 3; request++) assert.equal(await machine.sent(plain, socket), expected)
    assert.equal(owners.asked, 1)
  })
}

test('nothing is looked up where something else speaks against it already', async () => {
  const owners = new Owners()
  const machine = new ThisMachine(true, owners)
  assert.equal(await machine.sent({ ...plain, forwardedFor: true }, socketFrom('127.0.0.1')), false)
  assert.equal(await machine.sent({ ...plain, host: 'gateway.example' }, socketFrom('127.0.0.1')), false)
  assert.equal(await machine.sent(plain, socketFrom('192.0.2.1')), false)
  assert.equal(await machine.sent(plain, socketFrom(undefined)), false)
  assert.equal(await new ThisMachine(false, owners).sent(plain, socketFrom('127.0.0.1')), false)
  assert.equal(owners.asked, 0)
})

test('what could not be looked up is not trusted, and is looked up again', async () => {
  const machine = new ThisMachine(true, new Owners(new Error('EMFILE'), ourUser))
  const socket = socketFrom('::1')
  assert.equal(await machine.sent(plain, socket), false)
  assert.equal(await machine.sent(plain, socket), true)
})

test('where the system cannot tell, a loopback address is enough', async () => {
  const machine = new ThisMachine(true, null)
  assert.equal(await machine.sent(plain, socketFrom('::ffff:127.0.0.1')), true)
  assert.equal(await machine.sent(plain, socketFrom('192.0.2.1')), false)
})
