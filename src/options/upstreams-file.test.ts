import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { test } from 'node:test'
import { testBroken } from '../../test/support/broken-file.ts'
import { makeTempDir } from '../../test/support/temp-dir.ts'
import { patternMatcher } from './upstream-settings.ts'
import { JsonFileError } from './validated-json-file.ts'
import { UpstreamsFile } from './upstreams-file.ts'

const local = { name: 'local', urls: ['http://10.0.0.5:8080', 'http://10.0.0.6:8080'], models: ['llama*'] }
const claude = {
  name: 'claude',
  urls: ['https://api.anthropic.com'],
  models: ['claude-*'],
  credentials: { env: 'ANTHROPIC_API_KEY', header: 'x-api-key' },
}
const ports = [9090, 9118]

/** Flaws that a person may have written into two upstreams, and the words about each. */
const broken: readonly [upstreams: unknown, flaw: RegExp][] = [
  [[{ ...local, name: 'Local' }], /upstreams\[0\]\.name must be a name of 1 to 32 small letters/],
  [[{ ...local, name: 'v1' }], /\[0\]\.name cannot be v1: paths already begin with it/],
  [[{ ...local, name: 'v2' }], /cannot be v2: paths already begin with it/],
  [[{ ...local, name: 'default' }], /cannot be default/],
  [[local, { ...claude, name: 'local' }], /\[1\]\.name is the name of an upstream before it: local/],
  [[{ name: 'a', urls: [] }], /\[0\]\.urls must be a list that is not empty/],
  [[{ name: 'a', urls: ['10.0.0.5'] }], /\[0\]\.urls\[0\] must be an http or https URL/],
  [[{ name: 'a', urls: ['http://u:p@h'] }], /without user, password/],
  [[{ name: 'a', urls: ['https://h/v1?api-key=x'] }], /without user, password, key/],
  [[{ name: 'a', urls: ['https://h/v1/chat/completions'] }], /and the path of a call/],
  [[{ name: 'a', urls: ['http://h', 'http://h'] }], /urls\[1\] is in the list already: http:\/\/h/],
  [[{ name: 'a', urls: ['http://localhost:9090/v1'] }], /urls\[0\] leads back to this gateway/],
  [[{ name: 'a', urls: ['http://[::1]:9118'] }], /leads back/],
  [[{ name: 'a', urls: ['http://localhost.:9118'] }], /leads back/],
  [[{ name: 'a', urls: ['http://[::ffff:127.0.0.1]:9090'] }], /leads back/],
  [[{ name: 'a', urls: [`http://${hostname().toLowerCase()}:9090`] }], /leads back/],
  [[local, { ...claude, models: ['llama-3'] }], /\[1\]\.models\[0\] never matches: llama\* of local matches/],
  [[{ ...local, models: ['*', 'x*y'] }], /\[0\]\.models\[1\] never matches: \* of local/],
  [[{ ...local, credentials: 'mine' }], /\[0\]\.credentials must be "client" or "none"; it is "mine"/],
  [[{ ...local, credentials: { env: 'A B' } }], /credentials\.env must be the name of an environment/],
  [[{ ...local, credentials: { key: 'sk-1' } }], /credentials\.key is unknown here/],
  [[{ ...local, fallback: 'local' }], /\[0\]\.fallback is the upstream itself/],
  [
    [{ ...local, fallback: 'cloud' }, claude],
    /\[0\]\.fallback names an unknown upstream: cloud; known are default, claude/,
  ],
  [[{ ...local, fallback: { to: 'cloud' } }], /\[0\]\.fallback\.to names an unknown upstream: cloud/],
  [[{ ...local, max_concurrent: 0 }], /max_concurrent must be a whole number from 1/],
  [
    Array.from({ length: 101 }, (_, i) => ({ name: `n${i}`, urls: ['http://h'] })),
    /has 101 upstreams; 100 are/,
  ],
]

testBroken(
  (folder) => new UpstreamsFile(`${folder}/upstreams.json`, ports),
  (file) => file.change(() => [local, claude]),
  'broken_upstreams_file',
  broken.map(([upstreams, { source }]) => [
    JSON.stringify({ version: 1, upstreams }, null, 2),
    new RegExp(`upstreams\\.json, line \\d+, column \\d+: .*${source}`),
  ]),
)

test('a change that makes no sense is refused in words, and nothing is written', async () => {
  await using dir = await makeTempDir()
  const file = new UpstreamsFile(dir.file('data/upstreams.json'), ports)
  await file.change(() => [local])
  assert.equal(statSync(file.path).mode & 0o777, 0o600)
  await assert.rejects(
    file.change((before) => [...before, { ...claude, name: 'local' }]),
    (error) => error instanceof JsonFileError && error.code === 'invalid_upstream' && error.param === 'name',
  )
  await assert.rejects(
    file.change((before) => [...before, { ...claude, fallback: 'nosuch' }]),
    { message: /^claude: fallback names an unknown upstream: nosuch; known are / },
  )
  assert.deepEqual(file.content.upstreams, [local])
})

test('a star stands for any characters, and for nothing else', () => {
  const takes = (pattern: string, name: string): boolean => patternMatcher(pattern)(name)
  assert.ok(takes('llama*', 'llama') && takes('llama*', 'llama-3.1:8b'))
  assert.ok(takes('*/llama*:free', 'meta/llama-3:free') && takes('a*b*c', 'a-b-b-c'))
  assert.ok(takes('gpt-4.1', 'gpt-4.1') && !takes('gpt-4.1', 'gpt-4x1'))
  assert.ok(
    !takes('llama*', 'Llama-3') && !takes('ab*ba', 'aba') && !takes('a*b*c', 'acb') && !takes('a*b*b', 'ab'),
  )
  assert.ok(!takes(`${'*a'.repeat(50)}*b`, 'a'.repeat(500)))
})
