import assert from 'node:assert/strict'
import { Transform } from 'node:stream'
import { test } from 'node:test'
import { ContentDecoder } from './content-decoder.ts'

/** A coding whose streams are kept, to see what becomes of them. */
function seenCoding() {
  const streams: Transform[] = []
  const stream = (): Transform => {
    const transform = new Transform({ transform: (bytes, _, done) => done(null, bytes) })
    streams.push(transform)
    return transform
  }
  return { streams, stream, decode: (bytes: Buffer): Buffer => bytes }
}

test('a decoder that is let go gives its stream back, hands over nothing more, and settles', async () => {
  const coding = seenCoding()
  const pieces: string[] = []
  const decoder = new ContentDecoder(
    coding,
    'as-it-comes',
    (bytes) => void pieces.push(Buffer.from(bytes).toString()),
  )
  decoder.write(Buffer.from('begun'), 0)
  const settled = decoder.settled()
  decoder[Symbol.dispose]()
  decoder.write(Buffer.from('more'), 1)
  decoder.end()
  await settled
  assert.deepEqual([coding.streams.length, coding.streams[0]?.destroyed], [1, true])
  assert.deepEqual([decoder.failed, decoder.settled(), pieces], [true, null, ['begun']])
})

test('a decoder whose receiver fails gives its stream back', async () => {
  const coding = seenCoding()
  const decoder = new ContentDecoder(coding, 'as-it-comes', () => {
    throw new Error('a fault')
  })
  decoder.write(Buffer.from('begun'), 0)
  await decoder.settled()
  assert.deepEqual([coding.streams[0]?.destroyed, decoder.failed], [true, true])
})
