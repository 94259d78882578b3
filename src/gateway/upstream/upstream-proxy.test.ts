import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyFor } from './upstream-proxy.ts'

const https = 'https://api.example.com'
const proxy = 'http://proxy:3128'

for (const [upstream, env, expected] of [
  [https, {}, null],
  [https, { HTTPS_PROXY: '' }, null],
  [https, { HTTPS_PROXY: proxy }, proxy],
  [https, { HTTP_PROXY: proxy }, null],
  ['http://api.example.com', { HTTP_PROXY: proxy }, proxy],
  [https, { HTTPS_PROXY: 'http://other', https_proxy: proxy }, proxy],
  [https, { HTTPS_PROXY: proxy, https_proxy: '' }, proxy],
  [https, { HTTPS_PROXY: 'proxy:3128' }, proxy],
  [https, { HTTPS_PROXY: 'https://proxy' }, 'https://proxy'],
  ['http://localhost:11434', { HTTP_PROXY: proxy }, null],
  ['http://127.0.0.1:8080', { HTTP_PROXY: proxy }, null],
  ['http://[::1]:8080', { HTTP_PROXY: proxy }, null],
  ...(
    [
      ['*', false],
      ['example.com', false],
      ['.example.com', false],
      ['*.example.com', false],
      ['API.example.com', false],
      ['ample.com', true],
      ['a.com, example.com:443', false],
      ['a.com, example.com:80', true],
      ['a.com b.com', true],
      ['', true],
    ] as const
  ).map(([list, used]) => [https, { HTTPS_PROXY: proxy, NO_PROXY: list }, used ? proxy : null] as const),
  ['https://api.example.com:8443', { HTTPS_PROXY: proxy, no_proxy: 'example.com:8443' }, null],
  ['https://api.example.com', { HTTPS_PROXY: proxy, NO_PROXY: 'api.example.com:443' }, null],
  ['http://10.1.2.3', { HTTP_PROXY: proxy, NO_PROXY: '10.1.2.3:80' }, null],
  ['http://10.1.2.3', { HTTP_PROXY: proxy, NO_PROXY: '10.0.0.0/8' }, null],
  ['http://11.1.2.3', { HTTP_PROXY: proxy, NO_PROXY: '10.0.0.0/8,10.0.0.0/99,a/8' }, proxy],
  ['http://10.1.2.3', { HTTP_PROXY: proxy, NO_PROXY: '10.1.2.3' }, null],
  ['http://[fd00::1]', { HTTP_PROXY: proxy, NO_PROXY: 'fd00::/8' }, null],
  ['http://[fd00::1]', { HTTP_PROXY: proxy, NO_PROXY: 'fd00::1' }, null],
] as const) {
  test(`${upstream} with ${JSON.stringify(env)}: ${expected ?? 'direct'}`, () => {
    assert.equal(proxyFor(upstream, env)?.origin ?? null, expected)
  })
}

test('user and password become a header and stand nowhere else', () => {
  assert.deepEqual(proxyFor(https, { https_proxy: 'http://us%40er:p%3Ass@proxy:3128' }), {
    origin: proxy,
    authorization: `Basic ${Buffer.from('us@er:p:ss').toString('base64')}`,
    variable: 'https_proxy',
  })
})

test('a percent sign that escapes nothing is part of a password', () => {
  for (const [password, sent] of [
    ['50%off', '50%off'],
    ['%', '%'],
    ['a%2', 'a%2'],
    ['%zz%40', '%zz@'],
    ['ä%C3%A4%', 'ää%'],
  ] as const) {
    const proxied = proxyFor(https, { HTTPS_PROXY: `http://me:${password}@proxy:3128` })
    assert.equal(proxied?.authorization, `Basic ${Buffer.from(`me:${sent}`).toString('base64')}`, password)
  }
})

test('what is no HTTP proxy is refused by the name of its variable alone', () => {
  for (const address of ['socks5://user:secret@proxy', 'http://']) {
    assert.throws(() => proxyFor(https, { HTTPS_PROXY: address }), {
      code: 'invalid_proxy',
      message: 'HTTPS_PROXY is not the http or https address of a proxy',
    })
  }
})
