/** A call's model is known wherever its body names it: in a form, and in JSON on any path. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams } from '../support/upstreams-file.ts'

const transcribed = {
  text: 'Hello',
  usage: { type: 'tokens', input_tokens: 140, output_tokens: 45, total_tokens: 185 },
}
const headers = [['Content-Type', 'multipart/form-data; boundary=b']] as const

/** As the Python library sends it, fields first, or as others do, the file first. */
function form(isFileFirst: boolean, model: string): Buffer {
  const part = (head: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`
  const file = part('name="file"; filename="a.wav"', 'RIFF'.repeat(50_000))
  const field = part('name="model"', model)
  return Buffer.from(`${isFileFirst ? file + field : field + file}--b--\r\n`)
}

test('a form is routed by its model, wherever that stands, and arrives byte for byte', async () => {
  const answers = { reply: () => jsonReply(200, transcribed) }
  await using byDefault = await startSimulatedUpstream(answers)
  await using whisper = await startSimulatedUpstream(answers)
  await using gateway = await startGatewayOfUpstreams({
    upstream: byDefault.baseUrl,
    named: [{ name: 'whisper', urls: [whisper.origin], models: ['whisper-*'] }],
  })
  for (const isFileFirst of [false, true]) {
    const body = form(isFileFirst, 'whisper-1')
    const answer = await exchange(gateway.port, 'POST', '/v1/audio/transcriptions', { headers, body })
    assert.equal(answer.status, 200)
    assert.ok(whisper.requests.at(-1)?.body.equals(body))
    const { model, upstream_name: upstream, input_tokens: tokens } = await rowOf(gateway, answer)
    assert.deepEqual([model, upstream, tokens], ['whisper-1', 'whisper', 140])
  }
  const lines = Buffer.from(form(true, 'whisper-1').toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  const read = await exchange(gateway.port, 'POST', '/v1/audio/translations', { headers, body: lines })
  assert.equal(read.header('x-tokenweir-upstream'), 'whisper')
  const coded = [...headers, ['Content-Encoding', 'gzip'] as const]
  const body = gzipSync(form(true, 'whisper-1'))
  const answer = await exchange(gateway.port, 'POST', '/v1/audio/translations', { headers: coded, body })
  assert.equal(answer.header('x-tokenweir-upstream'), 'whisper')
  assert.equal(byDefault.requests.length, 0)
  const files = await exchange(gateway.port, 'POST', '/v1/files', { headers, body: form(true, 'whisper-1') })
  const { model, upstream_name: upstream } = await rowOf(gateway, files)
  assert.deepEqual([model, upstream], ['whisper-1', 'default'], 'a file for later goes as it comes')
})

test('with one upstream, too, the row has the model that a form or a JSON body names', async () => {
  await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, transcribed) })
  await using gateway = await startGatewayProcess({ upstream: upstream.baseUrl })
  const json = Buffer.from('{"prompt":"a weir","model":"gpt-image-1"}')
  const calls: readonly (readonly [string, Buffer, string, string | null])[] = [
    ['/v1/audio/transcriptions', form(true, 'whisper-1'), 'multipart/form-data; boundary=b', 'whisper-1'],
    ['/v1/images/generations', json, 'application/json', 'gpt-image-1'],
    ['/v1/audio/speech', json, 'text/plain', 'gpt-image-1'],
    ['/v1/uploads', Buffer.from('x{"model":"no"}'), 'application/octet-stream', null],
    ['/v1/uploads', json, 'audio/wav', null],
  ]
  for (const [path, body, type, named] of calls) {
    const answer = await exchange(gateway.port, 'POST', path, { headers: [['Content-Type', type]], body })
    assert.ok(upstream.requests.at(-1)?.body.equals(body))
    assert.equal((await rowOf(gateway, answer)).model, named, path)
  }
})
