import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { ClientLabels } from '../../src/gateway/call/client-labels.ts'
import { RecordComposer } from '../../src/payloads/record/compose-record.ts'
import type { RawAnswer } from '../../src/payloads/record/raw-payload.ts'

const composer = new RecordComposer({ salt: Buffer.alloc(16), maxBodyBytes: 1000 })

function answerOf(contentType: string, body: Buffer, coding: string): RawAnswer {
  return {
    callId: 7_218_000_000_000_000,
    wallTimeMs: 1_795_000_000_000,
    method: 'POST',
    path: '/v1/chat/completions',
    headers: ['Content-Type', contentType, 'Content-Encoding', coding],
    bytes: body,
    totalBytes: body.length,
    truncated: false,
    model: null,
    stream: true,
    status: 200,
    outcome: 'ok',
    failureCode: null,
    durationMs: 1,
    chunkOffsetsMs: [1],
  }
}

test('docs/raw-log.md tells of every field of a record, and of no other', async () => {
  const doc = await readFile(new URL('../../docs/raw-log.md', import.meta.url), 'utf8')
  const [, table = ''] = /## A record\n([^]*?)\n### /.exec(doc) ?? []
  const told = [...table.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const raws = [
    answerOf('text/event-stream', Buffer.from('data: {}\n\n'), ''),
    answerOf('image/png', Buffer.from([0xff]), ''),
    answerOf('image/png', Buffer.from([0xff]), 'unknown'),
  ]
  const written = raws
    .flatMap((raw) => [composer.composeAnswer(raw, 1), composer.composeRequest(raw, 1)])
    .flatMap((line) => Object.keys(JSON.parse(line) as object))
  assert.deepEqual(new Set(told), new Set(written))
  assert.equal(new Set(told).size, told.length)
})

test('a bearer key has the fingerprint in the log that it has in its call', () => {
  const salt = Buffer.from('0123456789abcdef')
  const credential = 'Bearer sk-weir-0123456789abcdef'
  const raw = { ...answerOf('', Buffer.alloc(0), ''), headers: ['Authorization', credential] }
  const line = new RecordComposer({ salt, maxBodyBytes: 1000 }).composeRequest(raw, 1)
  const print = new ClientLabels(salt).fingerprint(credential) ?? ''
  assert.ok(line.includes(`"Bearer hmac:${print}(24)"`), line)
})
