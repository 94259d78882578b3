import assert from 'node:assert/strict'
import { test } from 'node:test'
import { upstreamTable } from './upstream-table.ts'

const find = upstreamTable({
  'models.example.com': { prefix: 'mine/', provider: 'mine' },
  '10.1.2.3:8000': { prefix: '', provider: 'openai' },
  '*.proxy.example': { prefix: 'p/', provider: 'p' },
  'API.Groq.com': { prefix: 'other/', provider: 'other' },
})

const cases: Readonly<Record<string, readonly (string | null)[]>> = {
  openai: ['api.openai.com', 'API.OpenAI.com:443', '10.1.2.3:8000'],
  azure: ['my-team.openai.azure.com'],
  mine: ['models.example.com'],
  p: ['a.b.proxy.example'],
  other: ['api.groq.com'],
  local: `10.1.2.3:8001 127.0.0.1:8080 127.8.9.10 localhost:11434 gpu-box gpu-box.local:1234
    host.docker.internal:1234 192.168.7.7 172.31.0.1 169.254.1.1 100.100.1.1 [::1]:8080 [::1] [fd12:3456::1]:80
    [fe80::1] [::ffff:127.0.0.1]:80`.split(/\s+/),
  unknown_upstream: [
    ...'openai.azure.com evil-api.openai.com api.openai.com.example.org 172.32.0.1 [2001:db8::1]'.split(' '),
    ...'8.8.8.8 llm.example.org'.split(' '),
    '',
    null,
  ],
}

for (const [expected, upstreams] of Object.entries(cases)) {
  for (const upstream of upstreams) {
    test(`${upstream} is ${expected}`, () => {
      const provider = find(upstream)
      assert.equal(typeof provider === 'string' ? provider : provider.provider, expected)
    })
  }
}
