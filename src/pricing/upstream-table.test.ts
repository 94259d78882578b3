import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upstreamTable } from './upstream-table.ts'

const find = upstreamTable({
  'models.example.com': { prefix: 'mine/', provider: 'mine' },
  '10.1.2.3:8000': { prefix: '', provider: 'openai' },
  '*.proxy.example': { prefix: 'p/', provider: 'p' },
  'API.Groq.com': { prefix: 'other/', provider: 'other' },
})

const cases: readonly (readonly [string | null, string])[] = [
  ['api.openai.com', 'openai'],
  ['API.OpenAI.com:443', 'openai'],
  ['my-team.openai.azure.com', 'azure'],
  ['openai.azure.com', 'unknown_upstream'],
  ['evil-api.openai.com', 'unknown_upstream'],
  ['api.openai.com.example.org', 'unknown_upstream'],
  ['models.example.com', 'mine'],
  ['a.b.proxy.example', 'p'],
  ['10.1.2.3:8000', 'openai'],
  ['api.groq.com', 'other'],
  ['10.1.2.3:8001', 'local'],
  ['127.0.0.1:8080', 'local'],
  ['127.8.9.10', 'local'],
  ['localhost:11434', 'local'],
  ['gpu-box', 'local'],
  ['gpu-box.local:1234', 'local'],
  ['host.docker.internal:1234', 'local'],
  ['192.168.7.7', 'local'],
  ['172.31.0.1', 'local'],
  ['172.32.0.1', 'unknown_upstream'],
  ['169.254.1.1', 'local'],
  ['100.100.1.1', 'local'],
  ['[::1]:8080', 'local'],
  ['[::1]', 'local'],
  ['[fd12:3456::1]:80', 'local'],
  ['[fe80::1]', 'local'],
  ['[::ffff:127.0.0.1]:80', 'local'],
  ['[2001:db8::1]', 'unknown_upstream'],
  ['8.8.8.8', 'unknown_upstream'],
  ['llm.example.org', 'unknown_upstream'],
  ['', 'unknown_upstream'],
  [null, 'unknown_upstream'],
]

for (const [upstream, expected] of cases) {
  test(`${upstream} is ${expected}`, () => {
    const provider = find(upstream)
    assert.equal(typeof provider === 'string' ? provider : provider.provider, expected)
  })
}
