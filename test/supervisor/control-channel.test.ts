import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { type Server, type Socket, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { ControlClient } from '../../src/control/control-client.ts'
import { type ControlServer, openControl } from '../../src/control/control-server.ts'
import { openSocketAddress } from '../../src/control/control-socket.ts'
import { readProcessRecord } from '../../src/control/process-record.ts'
import { ownIdentity } from '../../src/lib/process/process-identity.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { FakeGateway } from './fake-gateway.ts'

async function openServer(
  folder: string,
  gateway: FakeGateway,
  holderLimitMs = 20_000,
): Promise<ControlServer & AsyncDisposable> {
  const server = await openControl({ folder, gateway, holderLimitMs })
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.close() })
}

/** Somebody who holds the socket and goes about it in their own way. */
async function holdSocket(folder: string, onConnection: (socket: Socket) => void): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    onConnection(socket)
  })
  server.listen({ path: join(folder, 'gateway.sock') })
  await once(server, 'listening')
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Any request, as one who does not know the client would send it. */
async function ask(
  folder: string,
  route: string,
  body = '',
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const [method, path] = route.split(' ')
  using address = openSocketAddress(folder)
  const asked = request({ socketPath: address.path, method, path, agent: false }).end(body)
  const [response] = await once(asked, 'response')
  return { status: response.statusCode, body: await text(response) }
}

test('a gateway tells its status, and takes options, over its socket', async () => {
  await using dir = await makeTempDir()
  const gateway = new FakeGateway('aaaa')
  await using _ = await openServer(dir.path, gateway)
  const client = new ControlClient(dir.path)

  assert.deepEqual(await client.status(), gateway.status())
  const changed = await client.setOptions({ max_concurrent: 9, slot_cooldown_ms: 0 })
  assert.deepEqual(gateway.set, [{ max_concurrent: 9, slot_cooldown_ms: 0 }])
  assert.equal(changed.options['max_concurrent'], 9)
})

test('options that are wrong change nothing', async () => {
  await using dir = await makeTempDir()
  const gateway = new FakeGateway('aaaa')
  await using _ = await openServer(dir.path, gateway)

  await assert.rejects(
    new ControlClient(dir.path).setOptions({ max_concurrent: 0 }),
    /max_concurrent must be a whole number from 1/,
  )
  for (const body of ['', 'max_concurrent=3', '{"max_concurrent":1', 'null', '[]', '4']) {
    const { status, body: refusal } = await ask(dir.path, 'POST /options', body)
    assert.equal(status, 400, body)
    assert.match(refusal, /must be a JSON object/, body)
  }
  assert.equal((await ask(dir.path, 'POST /options', ' '.repeat(65 * 1024))).status, 413)
  assert.deepEqual(gateway.set, [])
})

test('what is no route is answered 404', async () => {
  await using dir = await makeTempDir()
  const gateway = new FakeGateway('aaaa')
  await using _ = await openServer(dir.path, gateway)

  for (const route of [
    'GET /',
    'GET /stop',
    'POST /status',
    'PUT /options',
    'GET /status/',
    'POST /stop?a=1',
  ]) {
    assert.equal((await ask(dir.path, route)).status, 404, route)
  }
  assert.equal(gateway.stops, 0)
})

test('the answer to a stop lasts as long as the gateway, also when its control server is closed', async () => {
  await using dir = await makeTempDir()
  const gateway = new FakeGateway('aaaa')
  const server = await openServer(dir.path, gateway)
  using address = openSocketAddress(dir.path)
  const asked = request({ socketPath: address.path, method: 'POST', path: '/stop', agent: false }).end()
  const [response] = await once(asked, 'response')
  const [line] = await once(response.setEncoding('utf8'), 'data')
  assert.equal(line, '{"stopping":true}\n')
  assert.equal(gateway.stops, 1)

  await server.close()
  assert.equal(await new ControlClient(dir.path).status(), 'notRunning')
  // A round trip later, the connection is still there.
  assert.equal(response.closed, false)
  asked.destroy()
})

test('only the owner may open the socket and the record, and they are gone afterwards', async () => {
  await using dir = await makeTempDir()
  const server = await openServer(dir.path, new FakeGateway('aaaa'))
  assert.deepEqual((await readdir(dir.path)).sort(), [
    'gateway-process.json',
    'gateway.sock',
    'gateway.sock.lock',
  ])
  assert.equal((await stat(dir.file('gateway.sock'))).mode & 0o777, 0o600)
  assert.equal((await stat(dir.file('gateway-process.json'))).mode & 0o777, 0o600)
  const { pid, startTicks, bootId, instance } = readProcessRecord(dir.path)!
  assert.deepEqual({ pid, startTicks, bootId }, ownIdentity())
  assert.equal(instance, 'aaaa')

  await server.close()
  assert.deepEqual(await readdir(dir.path), ['gateway.sock.lock'])
})

test('a gateway takes nothing away that another has put in its place', async () => {
  await using dir = await makeTempDir()
  const server = await openServer(dir.path, new FakeGateway('aaaa'))
  await rm(dir.file('gateway.sock'))
  await using _ = await openServer(dir.path, new FakeGateway('bbbb'))
  await server.close()
  const status = await new ControlClient(dir.path).status()
  assert.equal(typeof status === 'object' && status.instance, 'bbbb')
  assert.equal(readProcessRecord(dir.path)?.instance, 'bbbb')
})

test('a second gateway does not get the socket, and leaves the first as it was', async () => {
  await using dir = await makeTempDir()
  await using _ = await openServer(dir.path, new FakeGateway('aaaa'))
  await assert.rejects(
    openServer(dir.path, new FakeGateway('bbbb')),
    new RegExp(`another gateway \\(process ${process.pid}\\) is controlled from this folder`),
  )
  const status = await new ControlClient(dir.path).status()
  assert.equal(typeof status === 'object' && status.instance, 'aaaa')
  assert.equal(readProcessRecord(dir.path)?.instance, 'aaaa')
  assert.deepEqual((await readdir(dir.path)).sort(), [
    'gateway-process.json',
    'gateway.sock',
    'gateway.sock.lock',
  ])
})

test('of many that open at once, over a stale socket or none, one gets it', async () => {
  for (const stale of [false, true]) {
    await using dir = await makeTempDir()
    if (stale) await leaveStaleSocket(dir.path)
    const opened = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => openServer(dir.path, new FakeGateway(`race${index}`))),
    )
    const winners = opened.filter(({ status }) => status === 'fulfilled')
    assert.equal(winners.length, 1)
    const status = await new ControlClient(dir.path).status()
    const winner = opened.findIndex((outcome) => outcome.status === 'fulfilled')
    assert.equal(typeof status === 'object' && status.instance, `race${winner}`)
    assert.deepEqual((await readdir(dir.path)).sort(), [
      'gateway-process.json',
      'gateway.sock',
      'gateway.sock.lock',
    ])
    for (const outcome of opened) if (outcome.status === 'fulfilled') await outcome.value.close()
  }
})

test('a stale socket, and any other file in its place, is replaced', async () => {
  await using dir = await makeTempDir()
  await leaveStaleSocket(dir.path)
  assert.equal(await new ControlClient(dir.path).status(), 'notRunning')
  const first = await openServer(dir.path, new FakeGateway('aaaa'))
  await first.close()
  await writeFile(dir.file('gateway.sock'), 'not a socket')
  await using _ = await openServer(dir.path, new FakeGateway('bbbb'))
  assert.equal(typeof (await new ControlClient(dir.path).status()), 'object')
})

test('no socket, and no folder, means that there is no gateway', async () => {
  await using dir = await makeTempDir()
  assert.equal(await new ControlClient(dir.path).status(), 'notRunning')
  const nowhere = new ControlClient(dir.file('nowhere'))
  assert.equal(await nowhere.status(), 'notRunning')
  assert.equal(await nowhere.stop(), 'notRunning')
  await assert.rejects(nowhere.setOptions({}), /no gateway is running/)
  assert.equal(await new ControlClient(dir.file('x'.repeat(150))).status(), 'notRunning')
})

test('one that holds the socket and says nothing is silent, and keeps it', async () => {
  await using dir = await makeTempDir()
  await using _ = await holdSocket(dir.path, () => {})
  const client = new ControlClient(dir.path)
  assert.equal(await client.status(100), 'noReply')
  assert.equal(await client.stop(100), 'noReply')
  await assert.rejects(openServer(dir.path, new FakeGateway('aaaa'), 200), /which does not answer/)
  assert.ok(existsSync(dir.file('gateway.sock')))
})

test('time in which the asker itself stood still does not count against who is asked', async () => {
  await using dir = await makeTempDir()
  const limitMs = 1000
  const standStill = (): unknown =>
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.5 * limitMs)
  const nobody = new ControlClient(dir.path).status(limitMs)
  standStill()
  assert.equal(await nobody, 'notRunning')
  await using _ = await openServer(dir.path, new FakeGateway('aaaa'))
  const somebody = new ControlClient(dir.path).status(limitMs)
  standStill()
  assert.equal(typeof (await somebody), 'object')
})

test('one that begins to answer and goes on no further is silent too', async () => {
  await using dir = await makeTempDir()
  await using _ = await holdSocket(dir.path, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"identity":')
  })
  assert.equal(await new ControlClient(dir.path).status(100), 'noReply')
})

const emptyStatus = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'
/** To signal process -1 is to signal all. */
const groupStatus = emptyStatus.replace('2\r\n\r\n{}', '38\r\n\r\n{"instance":"a","identity":{"pid":-1}}')

test('one that answers nonsense is an error in words', async () => {
  for (const answer of ['SSH-2.0-x\r\n', emptyStatus, groupStatus]) {
    await using dir = await makeTempDir()
    await using _ = await holdSocket(dir.path, (socket) => socket.end(answer))
    await assert.rejects(new ControlClient(dir.path).status(), /the control socket in .* cannot be used: /)
  }
})

/** This process's own descriptors of a folder. */
function descriptorsOf(folder: string): readonly string[] {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === folder
    } catch {
      // It was the one by which the list was read.
      return false
    }
  })
}

test('a folder whose path is longer than any socket address works all the same', async () => {
  await using dir = await makeTempDir()
  // SQLite, and with it the database and its lock, ends at 512 bytes.
  const folder = join(dir.path, ...Array.from({ length: 3 }, (_, level) => `${level}`.repeat(120)))
  await mkdir(folder, { recursive: true })
  const gateway = new FakeGateway('aaaa')
  const server = await openServer(folder, gateway)
  const client = new ControlClient(folder)
  assert.deepEqual(await client.status(), gateway.status())
  await assert.rejects(openServer(folder, new FakeGateway('bbbb')), /another gateway/)
  assert.deepEqual((await readdir(folder)).sort(), [
    'gateway-process.json',
    'gateway.sock',
    'gateway.sock.lock',
  ])
  for (let round = 0; round < 20; round += 1) await client.status()
  assert.deepEqual(descriptorsOf(folder), [], 'the folder is not kept open')
  await server.close()
  assert.deepEqual(await readdir(folder), ['gateway.sock.lock'])
})

test('a folder that does not exist is an error in words', async () => {
  await using dir = await makeTempDir()
  await assert.rejects(openServer(dir.file('nowhere'), new FakeGateway('aaaa')), /EACCES|ENOENT/)
})

test('a process record that is no such thing counts for nothing', async () => {
  await using dir = await makeTempDir()
  const identity = { pid: 2, startTicks: 5, bootId: 'b' }
  const good = { ...identity, instance: 'i', host: 'h', port: 1, started_at: 's', supervised: false }
  await writeFile(dir.file('gateway-process.json'), JSON.stringify(good))
  assert.deepEqual(readProcessRecord(dir.path), good)
  for (const wrong of [
    { pid: 0 },
    { pid: -1 },
    { pid: 1 },
    { pid: '2' },
    { pid: 2.5 },
    { startTicks: 'x' },
    { bootId: 3 },
  ]) {
    await writeFile(dir.file('gateway-process.json'), JSON.stringify({ ...good, ...wrong }))
    assert.equal(readProcessRecord(dir.path), null, JSON.stringify(wrong))
  }
  for (const wrong of ['', 'null', '[]', '{', '7']) {
    await writeFile(dir.file('gateway-process.json'), wrong)
    assert.equal(readProcessRecord(dir.path), null, wrong)
  }
  assert.equal(await readFile(dir.file('gateway-process.json'), 'utf8'), '7')
})

/** As a killed gateway does: the file stays, and nobody listens. */
async function leaveStaleSocket(folder: string): Promise<void> {
  const program = `require('node:net').createServer().listen(${JSON.stringify(join(folder, 'gateway.sock'))}, () => process.kill(process.pid, 'SIGKILL'))`
  const child = spawn(process.execPath, ['-e', program])
  await once(child, 'exit')
  assert.ok(existsSync(join(folder, 'gateway.sock')))
}
