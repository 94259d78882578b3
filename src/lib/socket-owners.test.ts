import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type Socket, connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import { SocketOwners, keyOfRow, ownerOfRow } from './socket-owners.ts'

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
      const server = createServer()
      t.after(() => server.close())
      server.listen(0, listenOn)
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const client = connect(port, address)
      const [accepted] = (await once(server, 'connection')) as [Socket]
      t.after(() => [client, accepted].forEach((socket) => socket.destroy()))
      const { remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 } = accepted
      const ends = { remoteAddress, remotePort, localAddress, localPort }
      const owners = new SocketOwners()
      const asked = [ends, ends, { ...ends, remotePort: 1 }, { ...ends, localPort: 1 }]
      const found = await Promise.all(asked.map((each) => owners.ownerOf(each)))
      assert.deepEqual(found, [process.geteuid?.(), process.geteuid?.(), null, null])
      assert.equal(await owners.ownerOf({ ...ends, remoteAddress: 'fe80::1' }), null)
    },
  )
}
