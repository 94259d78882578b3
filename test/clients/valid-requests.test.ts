import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import OpenAI, { BadRequestError } from 'openai'
import { startCommandProcess } from '../support/command-process.ts'
import { freePort } from '../support/free-port.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { rowOf } from '../support/recorded-calls.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { placeSchema } from './both-ways.ts'

// A mock server that answers out of an OpenAPI document, and refuses what the document does not allow. It comes with
// its package, as one file of 100 MB.
const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const port = await freePort()
const mock = startCommandProcess({
  file: fileURLToPath(import.meta.resolve('@stdy/cli/steady.js')),
  args: [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--no-color',
    // With CI set in the environment it would say other words.
    '--log-format',
    'text',
    '--reject-on-sdk-error',
    fileURLToPath(new URL('forwarded-endpoints.openapi.yaml', import.meta.url)),
  ],
  directory: cleanup.use(await makeTempDir()).path,
})
// By SIGTERM, which it hands on to the program that it is a wrapper of.
cleanup.defer(async () => {
  await mock.stop('SIGTERM')
})
try {
  await mock.waitForOutput(/Ready to accept requests/, 30_000)
} catch (error) {
  // Nothing else would end it: of a file that fails while it is read, no hook is run.
  await cleanup.disposeAsync()
  throw error
}
const gateway = cleanup.use(await startGatewayProcess({ upstream: `http://127.0.0.1:${port}` }))

const settings = { apiKey: 'sk-test', maxRetries: 0 }
const client = new OpenAI({ baseURL: gateway.baseUrl, ...settings })
/** For the paths that stand beside `/v1`. */
const atRoot = new OpenAI({ baseURL: gateway.origin, ...settings })
const messages = [{ role: 'user' as const, content: 'What does a weir do? \u{1f30a}' }]
const eventStream = { headers: { Accept: 'text/event-stream' } }

interface Asked {
  asResponse(): Promise<Response>
}

const requests: readonly (readonly [path: string, ask: () => Asked])[] = [
  ['/v1/chat/completions', () => client.chat.completions.create({ model: 'm', messages, temperature: 0.5 })],
  [
    '/v1/chat/completions',
    () =>
      client.chat.completions.create({
        model: 'm',
        messages,
        tools: [{ type: 'function', function: { name: 'level', parameters: { ...placeSchema } } }],
        tool_choice: 'auto',
        response_format: { type: 'json_schema', json_schema: { name: 'place', schema: { ...placeSchema } } },
      }),
  ],
  [
    '/v1/chat/completions',
    () =>
      client.chat.completions.create(
        { model: 'm', messages, stream: true, stream_options: { include_usage: false } },
        eventStream,
      ),
  ],
  ['/v1/completions', () => client.completions.create({ model: 'm', prompt: 'a weir', max_tokens: 5 })],
  ['/v1/completions', () => client.completions.create({ model: 'm', prompt: 'a weir', stream: true })],
  ['/v1/responses', () => client.responses.create({ model: 'm', input: 'a weir', instructions: 'Be brief' })],
  ['/v1/embeddings', () => client.embeddings.create({ model: 'm', input: ['a', 'b'], dimensions: 3 })],
  [
    '/v1/messages',
    () =>
      client.post('/messages', {
        body: { model: 'm', max_tokens: 5, messages },
        headers: { 'anthropic-version': '2023-06-01' },
      }),
  ],
  ['/v1/models', () => client.models.list()],
  ['/v1/models', () => client.get('/models', { query: { limit: 5 } })],
  ['/v1/models/{model}', () => client.models.retrieve('org/name')],
  ['/v1/props', () => client.get('/props')],
  ['/props', () => atRoot.get('/props')],
  ...(['/v1/rerank', '/v1/reranking', '/rerank', '/reranking'] as const).map(
    (path) =>
      [path, () => atRoot.post(path, { body: { model: 'm', query: 'q', documents: ['a', 'b'] } })] as const,
  ),
]

for (const [index, [path, ask]] of requests.entries()) {
  test(`${path} is asked for as its document allows (${index})`, async () => {
    const response = await ask().asResponse()
    assert.equal(response.headers.get('x-steady-request-valid'), 'true')
    assert.equal(response.headers.get('x-steady-error-count'), '0')
    assert.equal(response.headers.get('x-steady-matched-path'), path)
    await response.body?.cancel()
  })
}

test('a stream that is asked for its usage is asked for it as the document allows', async () => {
  const { data, response } = await client.chat.completions
    .create({ model: 'm', messages, stream: true }, eventStream)
    .withResponse()
  const chunks = await Array.fromAsync(data)
  assert.equal(response.headers.get('x-steady-request-valid'), 'true')
  // The document's stream has a usage event; taken out, as the client did not ask.
  assert.equal(chunks.map((chunk) => chunk.choices.length).join(' '), '1')
  const row = await rowOf(gateway, { header: (name) => response.headers.get(name) ?? undefined })
  assert.deepEqual([row.total_tokens, row.attempts], [7, 1])
})

test('what the document does not allow is seen to be wrong', async () => {
  const wrong: readonly Readonly<Record<string, unknown>>[] = [
    { model: 'm', messages: 'a weir' },
    { model: 'm', messages, temperature: 'hot' },
    { model: 'm', messages, unheard_of: true },
    { model: 'm', messages, stream: true, stream_options: { include_usage: 'please' } },
  ]
  for (const body of wrong) {
    await assert.rejects(client.post('/chat/completions', { body }), (error) => {
      assert.ok(error instanceof BadRequestError)
      assert.equal(error.headers.get('x-steady-request-valid'), 'false')
      return true
    })
  }
})
