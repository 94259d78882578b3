import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskPath } from './mask-path.ts'

for (const [path, masked] of [
  ['/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/models?limit=20&after=abc', '/v1/models?limit=20&after=abc'],
  [
    '/v1beta/models/x:streamGenerateContent?alt=sse&key=a',
    '/v1beta/models/x:streamGenerateContent?alt=sse&key=[secret]',
  ],
  [
    '/x?api_key=1&API-KEY=2&access_token=3&sig=4&a=5',
    '/x?api_key=[secret]&API-KEY=[secret]&access_token=[secret]&sig=[secret]&a=5',
  ],
  ['/x?private_key=1&app_key=2&passphrase=3', '/x?private_key=[secret]&app_key=[secret]&passphrase=[secret]'],
  ['/x?%6bey=short&k=v', '/x?%6bey=[secret]&k=v'],
  [
    '/x?X-Amz-Credential=a&X-Amz-Signature=b&X-Amz-Date=c',
    '/x?X-Amz-Credential=[secret]&X-Amz-Signature=[secret]&X-Amz-Date=c',
  ],
  ['/x?k=20&q=a', '/x?k=20&q=a'],
  ['/x?k=q1w2e3r4t5y6', '/x?k=[secret]'],
  ['/x?note=sk-proj-abcdEFGH1234', '/x?note=[secret]'],
  ['/x?%zz=1&key', '/x?%zz=1&key'],
  ['/bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1/send', '/bot[secret]/send'],
  ['/x?monkey=1&keyboard=2&max_tokens=3', '/x?monkey=1&keyboard=2&max_tokens=3'],
] as const) {
  test(`${path} is kept as ${masked}`, () => {
    assert.equal(maskPath(path), masked)
  })
}
