import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Failure } from '../../call/failure.ts'
import { type BodyLimits, HeldBody, endReading, readBody } from './request-body.ts'
import { RequestHead } from './request-head.ts'

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

test('a body is held as it came, shown as it comes, and let go', async () => {
  const limits = limitsOf(50, 100)
  const { req, send, end } = request()
  const pieces: string[] = []
  {
    using body = new HeldBody(limits)
    const reading = readBody(req, chunked, body, (chunk) => pieces.push(Buffer.from(chunk).toString()))
    send('{"a":', '1}')
    end()
    await reading
    assert.equal(Buffer.concat(body.chunks).toString(), '{"a":1}')
    assert.deepEqual([body.bytes, limits.heldBytes], [7, 7])
  }
  assert.deepEqual(pieces, ['{"a":', '1}'])
  assert.equal(limits.heldBytes, 0)
})

test('a body that was let go holds nothing of what still arrives', async () => {
  const limits = limitsOf(50, 100)
  const { req, send } = request()
  const body = new HeldBody(limits)
  const reading = readBody(req, chunked, body, () => undefined)
  send('{"a":')
  endReading(req, new Failure('cancelled', 'This call was cancelled.'))
  await assert.rejects(reading)
  body[Symbol.dispose]()
  send('1}')
  await setImmediate()
  assert.deepEqual([body.bytes, limits.heldBytes], [0, 0])
})

test('all bodies together are bounded; one that is let go makes room', async () => {
  const limits = limitsOf(8, 10)
  const body = new HeldBody(limits)
  assert.equal(body.add(Buffer.alloc(8)), null)
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
  body[Symbol.dispose]()
  body[Symbol.dispose]()
  assert.equal(limits.heldBytes, 2)
  using next = new HeldBody(limits)
  assert.equal(next.add(Buffer.alloc(8)), null)
})
