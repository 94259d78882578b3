import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientLabels } from './client-labels.ts'

const labels = new ClientLabels(Buffer.from('salt of a test'))

const products: readonly [userAgent: string, product: string][] = [
  ['OpenAI/Python 1.109.1', 'OpenAI/Python'],
  ['OpenAI/JS 6.49.0', 'OpenAI/JS'],
  ['curl/8.5.0', 'curl'],
  ['python-httpx/0.27', 'python-httpx'],
  ['Mozilla/5.0 (X11; Linux) AppleWebKit/537', 'Mozilla'],
  ['ai-sdk/openai-compatible/1.0.3 runtime/node', 'ai-sdk/openai-compatible'],
  ['my agent', 'my'],
  ['', ''],
]

for (const [userAgent, product] of products) {
  test(`the product of ${JSON.stringify(userAgent)} is ${JSON.stringify(product)}`, () => {
    assert.equal(labels.product(userAgent), product)
  })
}

test('a fingerprint tells keys apart, not the ways in which one key is sent', () => {
  const key = labels.fingerprint('Bearer sk-one')
  assert.match(String(key), /^[0-9a-f]{8}$/)
  assert.equal(labels.fingerprint('bearer  sk-one'), key)
  assert.equal(labels.fingerprint('sk-one'), key)
  assert.notEqual(labels.fingerprint('Bearer sk-two'), key)
  assert.notEqual(new ClientLabels(Buffer.from('another')).fingerprint('sk-one'), key)
})

test('no credential has no fingerprint', () => {
  for (const nothing of ['', 'Bearer', 'Bearer ']) assert.equal(labels.fingerprint(nothing), null)
})

test('a label is what the client wrote, in UTF-8 or Latin-1, and an empty one is none', () => {
  const onTheWire = (text: string, encoding: BufferEncoding): string =>
    Buffer.from(text, encoding).toString('latin1')
  assert.equal(labels.header(onTheWire('agent-é-日', 'utf8')), 'agent-é-日')
  assert.equal(labels.header(onTheWire('agent-é', 'latin1')), 'agent-é')
  assert.equal(labels.header('x'.repeat(300)), 'x'.repeat(200))
  assert.equal(labels.header(''), null)
  assert.equal(labels.header(null), null)
})

test('no credential is left in a label', () => {
  const key = 'sk-proj-abcdEFGH1234ijklMNOP5678'
  assert.equal(labels.header(`agent with ${key}`), 'agent with [secret]')
  assert.equal(labels.header(`/v1/files/${key}/content`), '/v1/files/[secret]/content')
  assert.equal(labels.product(`${key}/1.0 (x)`), '[secret]')
  assert.ok(!labels.text(`${'x'.repeat(190)} ${key}`).includes('sk-'))
})
