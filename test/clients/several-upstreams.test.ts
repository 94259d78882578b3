/** Official client libraries, all at once, at one gateway that has several upstreams: nginx, two like llama.cpp's, and Anthropic's form. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { CallJson } from '../../src/call/call-record.ts'
import { answerAgent } from '../support/agent-model.ts'
import { freePort } from '../support/free-port.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { LlamaUpstream } from '../support/llama-upstream-process.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { untilListening } from '../support/until-listening.ts'
import { startGatewayOfUpstreams } from '../support/upstreams-file.ts'

const talks = 6
const turns = 4
/** Talks with local models: half of them by the model's name, half by the upstream's path. */
const localTalks = 2 * talks
const clientKey = 'key-of-the-client'

describe('client libraries at several upstreams, all at once', () => {
  const stack = new AsyncDisposableStack()
  let hosted: SimulatedUpstream
  let claude: SimulatedUpstream
  let llamas: readonly LlamaUpstream[]
  let gateway: GatewayProcess
  let nginxPort = 0
  let calls: readonly CallJson[]
  const answers: string[] = []

  before(async () => {
    hosted = stack.use(await startSimulatedUpstream())
    claude = stack.use(await startSimulatedUpstream({ reply: (seen) => ({ steps: answerAgent(seen) }) }))
    // Each has a slot for every talk, and takes them all at once if it must: so no talk has a reason to leave its replica.
    llamas = [
      stack.use(await LlamaUpstream.start(localTalks)),
      stack.use(await LlamaUpstream.start(localTalks)),
    ]
    nginxPort = await startNginx(stack, hosted.origin)
    const named = [
      {
        name: 'local',
        urls: llamas.map(({ origin }) => origin),
        models: ['llama*'],
        max_concurrent: localTalks * llamas.length,
      },
      {
        name: 'claude',
        urls: [claude.origin],
        models: ['claude-*'],
        credentials: { env: 'CLAUDE_KEY', header: 'x-api-key' },
      },
    ]
    const upstream = `http://127.0.0.1:${nginxPort}`
    gateway = stack.use(
      await startGatewayOfUpstreams({ upstream, named, env: { CLAUDE_KEY: 'key-of-claude' } }),
    )
    const openai = (path: string): OpenAI =>
      new OpenAI({ baseURL: `${gateway.origin}${path}/v1`, apiKey: clientKey, maxRetries: 0 })
    const anthropic = (path: string): Anthropic =>
      new Anthropic({ baseURL: `${gateway.origin}${path}`, apiKey: clientKey, maxRetries: 0 })
    await Promise.all(
      Array.from({ length: talks }, (_, index) => [
        talkTo(openai(''), 'gpt-5', index),
        talkTo(openai(''), 'llama-3', index),
        talkTo(openai('/local'), 'any', index + talks),
        messageTo(anthropic(''), 'claude-opus-4', index % 2 === 0),
        messageTo(anthropic('/claude'), 'opus', index % 2 === 0),
      ]).flat(),
    )
    calls = await recordedCalls(gateway, talks * (3 * turns + 2))
  })
  after(() => stack.disposeAsync())

  /** A chat that grows turn by turn, and says whose it is. */
  async function talkTo(client: OpenAI, model: string, index: number): Promise<void> {
    // No two talks begin alike, so that what is known of one is of no use to another.
    let content = `${String.fromCodePoint(65 + index)} is a talk of weirs. `.repeat(50)
    for (let turn = 0; turn < turns; turn++) {
      const messages = [{ role: 'user' as const, content }]
      const { choices } = await client.chat.completions.create({
        model,
        messages,
        prompt_cache_key: `${model}-${index}`,
      })
      content += choices[0]?.message.content
      if (turn === turns - 1) answers.push(`${model}: ${choices[0]?.message.content !== ''}`)
    }
  }

  async function messageTo(client: Anthropic, model: string, isStreamed: boolean): Promise<void> {
    const ask = { model, max_tokens: 9, messages: [{ role: 'user' as const, content: 'Hold.' }] }
    const message = isStreamed
      ? await client.messages.stream(ask).finalMessage()
      : await client.messages.create(ask)
    const [block] = message.content
    answers.push(`${model}: ${block?.type === 'text' ? block.text : block?.type}`)
  }

  it('each is answered by the upstream of its path or model, and its row says which', () => {
    for (const call of calls) {
      const name = call.model === 'gpt-5' ? 'default' : /opus/.test(call.model ?? '') ? 'claude' : 'local'
      assert.deepEqual([call.upstream_name, call.outcome, call.status], [name, 'ok', 200])
      assert.ok((call.output_tokens ?? 0) > 0)
    }
    const hosts = (name: string): ReadonlySet<string | null> =>
      new Set(calls.filter((call) => call.upstream_name === name).map(({ upstream }) => upstream))
    assert.deepEqual(hosts('default'), new Set([`127.0.0.1:${nginxPort}`]))
    assert.deepEqual(hosts('claude'), new Set([new URL(claude.origin).host]))
    assert.deepEqual(hosts('local'), new Set(llamas.map(({ origin }) => new URL(origin).host)))
    assert.equal(answers.length, talks * 5)
    assert.ok(
      answers.every((answer) => /: (?:true|Weir)$/.test(answer)),
      answers.join(', '),
    )
  })

  it('a session stays at one replica, which knows its prompt', () => {
    const local = calls.filter((call) => call.upstream_name === 'local')
    const sessions = Map.groupBy(local, ({ session }) => session)
    assert.equal(sessions.size, localTalks)
    for (const [session, rows] of sessions) {
      assert.equal(new Set(rows.map(({ upstream }) => upstream)).size, 1, `${session}`)
      const isKnown = rows.map(
        ({ cached_input_tokens: cached, input_tokens: input }) => Number(cached) > Number(input) / 2,
      )
      assert.deepEqual(isKnown, [false, true, true, true], `${session}`)
    }
  })

  it('each upstream has its own key, or the client’s where it is the default', () => {
    const credentials = (upstream: SimulatedUpstream): readonly unknown[] => [
      ...new Set(
        upstream.requests.map((seen) => `${seen.header('authorization')}, ${seen.header('x-api-key')}`),
      ),
    ]
    assert.deepEqual(credentials(hosted), [`Bearer ${clientKey}, undefined`])
    assert.deepEqual(credentials(claude), ['undefined, key-of-claude'])
  })

  it('the models of all are listed, as far as calls of their names go there', async () => {
    const client = new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey: clientKey })
    const listed: string[] = []
    for await (const { id } of client.models.list()) listed.push(id)
    assert.deepEqual(listed, ['sim-small', 'llama'])
  })
})

/** Debian's nginx before a server, and its port. */
async function startNginx(stack: AsyncDisposableStack, origin: string): Promise<number> {
  const { path } = stack.use(await makeTempDir())
  const port = await freePort()
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    `${path}/nginx.conf`,
    `daemon off; error_log stderr warn; pid ${path}/nginx.pid; events {}
http { access_log off; ${kinds.map((kind) => `${kind}_temp_path ${path}/${kind};`).join(' ')}
server { listen 127.0.0.1:${port}; location / { proxy_pass ${origin}; proxy_http_version 1.1; proxy_buffering off; } } }
`,
  )
  const child = spawn('nginx', ['-c', `${path}/nginx.conf`, '-p', path, '-e', 'stderr'], {
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  stack.defer(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  await untilListening(port, child)
  return port
}
