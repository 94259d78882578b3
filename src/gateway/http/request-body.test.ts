import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { Failure } from '../../call/failure.ts'
import { type BodyLimits, HeldBody, endReading, readBody } from './request-body.ts'
import { RequestHead } from './request-head.ts'

const megabyte = 1_000_000

function limitsOf(maxBodyBytes: number, maxHeldBytes: number): BodyLimits {
  return { maxBodyBytes, maxHeldBytes, heldBytes: 0 }
}

function headOf(...raw: string[]): RequestHead {
  return new RequestHead(['Host', 'a', ...raw], '1.1')
}

const chunked = headOf('Transfer-Encoding', 'chunked')

/** A request whose body the test sends. */
function request(): { readonly req: IncomingMessage; send: (...chunks: string[]) => void; end: () => void } {
  const req = new IncomingMessage(new Socket())
  return {
    req,
    send: (...chunks) => {
      for (const chunk of chunks) req.push(Buffer.from(chunk))
    },
    end: () => {
      req.complete = true
      req.push(null)
    },
  }
}

async function codeOf(reading: Promise<unknown>): Promise<string> {
  try {
    await reading
  } catch (error) {
    assert.ok(error instanceof Failure, String(error))
    return error.code
  }
  return 'none'
}

test('a body is held as it came, shown as it comes, and let go', async () => {
  const limits = limitsOf(50, 100)
  const { req, send, end } = request()
  const seen: string[] = []
  {
    using body = new HeldBody(limits)
    const reading = readBody(req, chunked, body, (chunk) => seen.push(Buffer.from(chunk).toString()))
    send('{"a":', '1}')
    end()
    await reading
    assert.equal(Buffer.concat(body.chunks).toString(), '{"a":1}')
    assert.deepEqual([body.bytes, limits.heldBytes], [7, 7])
  }
  assert.deepEqual(seen, ['{"a":', '1}'])
  assert.equal(limits.heldBytes, 0)
})

test('a body that is too large is refused by its length before a byte is read, or where it turns out', async () => {
  using told = new HeldBody(limitsOf(megabyte, 10 * megabyte))
  const announced = headOf('Content-Length', String(megabyte + 1))
  const { req } = request()
  const fail = (): void => assert.fail('nothing is looked at')
  assert.equal(await codeOf(readBody(req, announced, told, fail)), 'body_too_large')
  assert.equal(req.listenerCount('data'), 0)

  using found = new HeldBody(limitsOf(4, 10 * megabyte))
  const other = request()
  const reading = codeOf(readBody(other.req, chunked, found, () => undefined))
  other.send('1234', '5')
  assert.equal(await reading, 'body_too_large')
  assert.equal(other.req.isPaused(), true, 'the rest is not read')
  assert.equal(found.bytes, 4)
})

test('all bodies together are bounded; one that is let go makes room', async () => {
  const limits = limitsOf(8, 10)
  const held = new HeldBody(limits)
  assert.equal(held.add(Buffer.alloc(8)), null)
  using late = new HeldBody(limits)
  const { req, send } = request()
  const reading = readBody(req, chunked, late, () => undefined)
  send('12', '3')
  await assert.rejects(reading, (error) => {
    assert.ok(error instanceof Failure)
    assert.deepEqual([error.code, error.kind.status, error.retryAfterS], ['buffers_full', 503, 1])
    return true
  })
  assert.equal(limits.heldBytes, 10)
  held[Symbol.dispose]()
  held[Symbol.dispose]()
  assert.equal(limits.heldBytes, 2)
  using next = new HeldBody(limits)
  assert.equal(next.add(Buffer.alloc(8)), null)
})

test('a client that leaves while it sends, or whose body is malformed, ends the reading', async () => {
  const limits = limitsOf(50, 100)
  {
    using body = new HeldBody(limits)
    const { req, send } = request()
    const reading = codeOf(readBody(req, chunked, body, () => undefined))
    send('half')
    req.destroy(new Error('aborted'))
    assert.equal(await reading, 'client_gone')
  }
  using body = new HeldBody(limits)
  const { req } = request()
  assert.equal(endReading(req, new Failure('invalid_request', 'nobody reads yet')), false)
  const reading = codeOf(readBody(req, chunked, body, () => undefined))
  assert.equal(endReading(req, new Failure('invalid_request', 'malformed')), true)
  assert.equal(await reading, 'invalid_request')
  assert.equal(limits.heldBytes, 0)
})

test('a request without a body is read at once', async () => {
  using body = new HeldBody(limitsOf(1, 0))
  await readBody(request().req, headOf('Content-Length', '0'), body, () => assert.fail())
  assert.equal(body.bytes, 0)
})
