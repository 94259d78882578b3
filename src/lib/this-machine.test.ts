import assert from 'node:assert/strict'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { SocketOwners, ThisMachine, keyOfRow, ownerOfRow } from './this-machine.ts'

const plain = { host: 'localhost', origin: null, secFetchSite: null, forwardedFor: false }
const ourUser = process.geteuid?.() ?? 1000
const otherUser = ourUser + 1

/** The ends of a socket; nothing else of it is looked at. */
function socketFrom(remoteAddress: string | undefined): Socket {
  return { remoteAddress, remotePort: 50_000, localAddress: '127.0.0.1', localPort: 9090 } as Socket
}

/** A system that says so of every socket, and counts how often it is asked. */
class Owners {
  lookups = 0
  readonly #answers: (number | null | Error)[]

  constructor(...answers: (number | null | Error)[]) {
    this.#answers = answers
  }

  ownerOf(): Promise<number | null> {
    const answer = this.#answers[this.lookups++]
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
    for (let request = 0; request < 3; request++)
      assert.equal(await machine.isLocalUser(plain, socket), expected)
    assert.equal(owners.lookups, 1)
  })
}

test('nothing is looked up where something else speaks against it already', async () => {
  const owners = new Owners()
  const machine = new ThisMachine(true, owners)
  const own = socketFrom('127.0.0.1')
  assert.equal(await machine.isLocalUser({ ...plain, forwardedFor: true }, own), false)
  assert.equal(await machine.isLocalUser({ ...plain, host: 'gateway.example' }, own), false)
  assert.equal(await machine.isLocalUser(plain, socketFrom('192.0.2.1')), false)
  assert.equal(await machine.isLocalUser(plain, socketFrom(undefined)), false)
  assert.equal(await new ThisMachine(false, owners).isLocalUser(plain, own), false)
  assert.equal(owners.lookups, 0)
})

test('what could not be looked up is not trusted, and is looked up again', async () => {
  const machine = new ThisMachine(true, new Owners(new Error('EMFILE'), ourUser))
  const socket = socketFrom('::1')
  assert.equal(await machine.isLocalUser(plain, socket), false)
  assert.equal(await machine.isLocalUser(plain, socket), true)
})

test('where the system cannot tell, a loopback address is enough', async () => {
  const machine = new ThisMachine(true, null)
  assert.equal(await machine.isLocalUser(plain, socketFrom('::ffff:127.0.0.1')), true)
  assert.equal(await machine.isLocalUser(plain, socketFrom('192.0.2.1')), false)
})

const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
)

/** Why addresses cannot be looked up here, or false. */
function without(...addresses: readonly string[]): string | false {
  if (process.platform !== 'linux') return 'this system has no such table'
  return !hasIpv6 && addresses.some((address) => address.startsWith('::')) && 'this system has no IPv6'
}

/** Rows as Linux writes them: their number, both ends, the state, queues, timers, the user, the inode. */
const rows = {
  established:
    '  12: 0100007F:C350 0100007F:2382 01 00000000:00000000 00:00000000 00000000    33        0 58631 1 00000000d3a6ee8f 20 4 30 10 -1',
  mapped:
    '   3: 0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:2382 01 00000000:00000000 02:00000A1C 00000000  1000        0 77 2 0000000000000000 20 4 30 10 -1',
  timeWait:
    '   9: 0100007F:C350 0100007F:2382 06 00000000:00000000 03:00001735 00000000     0        0 0 3 0000000000000000',
  closed:
    '   9: 0100007F:C350 0100007F:2382 04 00000001:00000000 01:00000015 00000000     0        0 0 3 0000000000000000 21 4 30 10 -1',
}

test('a row names both ends and the user', () => {
  assert.equal(keyOfRow(rows.established), '0100007F:C350 0100007F:2382')
  assert.deepEqual([ownerOfRow(rows.established), ownerOfRow(rows.mapped)], [33, 1000])
  assert.deepEqual([ownerOfRow(''), ownerOfRow('  sl  local_address rem_address   st')], [null, null])
})

test('what its process has closed is nobody’s, although the table says root', () => {
  assert.deepEqual([ownerOfRow(rows.timeWait), ownerOfRow(rows.closed)], [null, null])
})

async function listening(t: TestContext, host: string): Promise<readonly [server: Server, port: number]> {
  const server = createServer()
  t.after(() => server.close())
  server.listen(0, host)
  await once(server, 'listening')
  return [server, (server.address() as AddressInfo).port]
}

for (const [address, listenOn] of [
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '::'],
  ['127.8.9.1', '0.0.0.0'],
  ['::1', '::1'],
  ['::ffff:127.0.0.1', '0.0.0.0'],
] as const) {
  test(
    `a socket of ours that reaches ${listenOn} by ${address} is ours`,
    { skip: without(address, listenOn) },
    async (t) => {
      const [server, port] = await listening(t, listenOn)
      const client = connect(port, address)
      const [accepted] = (await once(server, 'connection')) as [Socket]
      t.after(() => [client, accepted].forEach((socket) => socket.destroy()))
      const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = accepted
      const ends = { remoteAddress, remotePort, localAddress, localPort }
      const owners = new SocketOwners()
      const connections = [ends, ends, { ...ends, remotePort: 1 }, { ...ends, localPort: 1 }]
      const ownerIds = await Promise.all(connections.map((each) => owners.ownerOf(each)))
      assert.deepEqual(ownerIds, [process.geteuid?.(), process.geteuid?.(), null, null])
      assert.equal(await owners.ownerOf({ ...ends, remoteAddress: 'fe80::1' }), null)
    },
  )
}

for (const address of ['127.0.0.1', '::1']) {
  test(
    `among many sockets of ${address} one is found in a few reads, as each is a turn in which others are served`,
    { skip: without(address) },
    async (t) => {
      const [server, port] = await listening(t, address)
      const accepted: Socket[] = []
      server.on('connection', (socket) => accepted.push(socket))
      for (let i = 0; i < 200; i++) {
        const client = connect(port, address)
        t.after(() => client.destroy())
        await once(client, 'connect')
      }
      t.after(() => accepted.forEach((socket) => socket.destroy()))
      await using file = await open('/proc/net/tcp')
      const handles = Object.getPrototypeOf(file) as typeof file
      const [read, readv] = [t.mock.method(handles, 'read'), t.mock.method(handles, 'readv')]
      const ends = { remoteAddress: address, remotePort: 1, localAddress: address, localPort: port }
      // Of what is not there all is read, twice.
      assert.equal(await new SocketOwners().ownerOf(ends), null)
      const bytes: number[] = []
      const note = async (read: Promise<{ readonly bytesRead: number }> | undefined): Promise<void> => {
        bytes.push((await read)?.bytesRead ?? 0)
      }
      for (const { result } of read.mock.calls) await note(result)
      for (const { result } of readv.mock.calls) await note(result)
      const allBytes = bytes.reduce((sum, count) => sum + count, 0)
      // Two tables, each read twice to its end, and a page is 4 kB: there are 15 and more of the sockets here alone.
      assert.ok(bytes.length <= 8 + allBytes / (10 * 4096), bytes.join())
    },
  )
}
