import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClientLabels, type Introduction } from './client-labels.ts'

const labels = new ClientLabels(Buffer.from('salt of a test'))

const silent: Introduction = {
  clientLabel: null,
  userAgent: null,
  originator: null,
  title: null,
  referer: null,
  sessionSource: null,
}

const clients: readonly [introduction: Partial<Introduction>, client: string | null][] = [
  [{ userAgent: 'OpenAI/Python 1.109.1' }, 'OpenAI/Python'],
  [{ userAgent: 'OpenAI/JS 6.49.0' }, 'OpenAI/JS'],
  [{ userAgent: 'curl/8.5.0' }, 'curl'],
  [{ userAgent: 'python-httpx/0.27' }, 'python-httpx'],
  [
    { userAgent: 'Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537' },
    'Mozilla',
  ],
  [{ userAgent: 'Mozilla/5.0 (X11) AppleWebKit/537.36 Cursor/1.2 Chrome/1 Electron/3' }, 'Cursor'],
  [{ userAgent: 'ai-sdk/openai-compatible/1.0.3 runtime/node' }, 'ai-sdk'],
  // The AI SDK 7 names itself otherwise in a stream.
  [{ userAgent: 'ai/7.0.173 ai-sdk-provider-utils/5.0.81 node.js/24' }, 'ai-sdk'],
  [{ userAgent: 'ai-sdk-openai-compatible/3.0.92 ai-sdk-provider-utils/5.0.81 node.js/24' }, 'ai-sdk'],
  [{ userAgent: 'my agent' }, 'my'],
  [{ userAgent: '' }, null],
  [{}, null],
  // As the agents of test/agents send it.
  [{ userAgent: 'codex_exec/0.169.0 (Debian 12.0.0; x86_64) dumb (codex_exec; 0.169.0)' }, 'codex'],
  [{ userAgent: 'codex_cli_rs/0.58.0 (Mac OS 15.1; arm64) iTerm', originator: 'codex_cli_rs' }, 'codex'],
  [{ userAgent: 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14' }, 'opencode'],
  [{ userAgent: 'QwenCode/0.24.4 (linux; x64)' }, 'qwen-code'],
  [{ userAgent: 'Anthropic/JS 0.91.1' }, 'Anthropic/JS'],
  [{ userAgent: 'ls/JS 5.23.2' }, 'ls/JS'],
  [{ userAgent: 'claude-cli/2.1.88 (external, cli)' }, 'claude-code'],
  // Words beside a library's.
  [{ userAgent: 'ai/5.0 ai-sdk/openai/2.0 my-bot/1.0 runtime/node/24' }, 'my-bot'],
  [{ userAgent: 'OpenAI/JS 6.49.0', title: 'Cline', referer: 'https://cline.bot' }, 'cline'],
  [{ userAgent: 'OpenAI/JS 6.49.0', title: 'My notes' }, 'My notes'],
  [{ userAgent: 'AsyncOpenAI/Python 1.9', referer: 'https://www.example.com/path' }, 'example.com'],
  [{ userAgent: 'Python/3.12 aiohttp/3.11', sessionSource: 'x-openwebui-chat-id' }, 'open-webui'],
  [{ userAgent: 'OpenAI/JS 6.49.0', originator: 'cline' }, 'cline'],
  [{ userAgent: 'OpenAI/JS 6.49.0', referer: 'no address', title: '' }, 'OpenAI/JS'],
  [{ clientLabel: 'mine', userAgent: 'codex_exec/0.1', title: 'Other' }, 'mine'],
]

for (const [introduction, client] of clients) {
  test(`the client of ${JSON.stringify(introduction)} is ${JSON.stringify(client)}`, () => {
    assert.equal(labels.client({ ...silent, ...introduction }, 'a1b2c3d4'), client)
  })
}

test('a name that a person gave to a key goes before a library, and after what a program says of itself', () => {
  const named = new ClientLabels(Buffer.from('salt'), (print) =>
    print === 'a1b2c3d4' ? 'build server' : null,
  )
  const library = { ...silent, userAgent: 'OpenAI/Python 1.109.1' }
  assert.equal(named.client(library, 'a1b2c3d4'), 'build server')
  assert.equal(named.client(silent, 'a1b2c3d4'), 'build server')
  assert.equal(named.client(library, '00000000'), 'OpenAI/Python')
  assert.equal(named.client(library, null), 'OpenAI/Python')
  assert.equal(named.client({ ...silent, userAgent: 'opencode/1.0' }, 'a1b2c3d4'), 'opencode')
})

test('of a long user agent only the beginning is looked at', () => {
  const far = (blanks: number): string => `OpenAI/JS 1.0${' '.repeat(blanks)}my-bot/1.0`
  assert.equal(labels.client({ ...silent, userAgent: far(400) }, null), 'my-bot')
  assert.equal(labels.client({ ...silent, userAgent: far(600) }, null), 'OpenAI/JS')
})

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
  assert.equal(labels.client({ ...silent, userAgent: `${key}/1.0 (x)` }, null), '[secret]')
  assert.equal(labels.client({ ...silent, title: `app ${key}` }, null), 'app [secret]')
  assert.equal(labels.session(`run ${key}`), 'run [secret]')
  assert.ok(!labels.text(`${'x'.repeat(190)} ${key}`).includes('sk-'))
})
