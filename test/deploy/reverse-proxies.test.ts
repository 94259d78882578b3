import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { type JsonRecord, asRecord, parseRecord } from '../support/json-record.ts'
import { until, write } from '../support/reply-step.ts'
import { chunkFrame, lastChunk, responseHead, streamHead } from '../support/response-bytes.ts'
import { selfSigned } from '../support/self-signed.ts'
import { type SimulatedUpstream, startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { untilListening } from '../support/until-listening.ts'
import { startUpProcess, type UpProcess } from '../support/up-process.ts'
import { eventually } from '../support/eventually.ts'

const page = readFileSync(new URL('../../docs/install.md', import.meta.url), 'utf8')
const token = 'the-admin-token-of-this-test'

/** The configuration that the page tells of, for these ports and this certificate. */
interface Setting {
  readonly folder: string
  readonly port: number
  readonly gateway: string
  readonly dashboard: string
}

/** A block of the page, with the two servers' addresses in it. */
function blockOf(language: string, { gateway, dashboard }: Setting): string {
  const [, block = ''] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? []
  for (const address of ['127.0.0.1:9090', '127.0.0.1:9118']) assert.ok(block.includes(address), address)
  return block
    .replace('127.0.0.1:9090', new URL(gateway).host)
    .replace('127.0.0.1:9118', new URL(dashboard).host)
}

/** How each is started, in its foreground. */
const proxies: Readonly<Record<string, (setting: Setting) => readonly string[]>> = {
  nginx: (setting) => {
    const { folder, port } = setting
    const block = blockOf('nginx', setting)
      .replaceAll('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replaceAll(/\/etc\/ssl\/\w+\.pem/g, `${folder}/cert.pem`)
      .replaceAll(/\/etc\/ssl\/\w+\.key/g, `${folder}/key.pem`)
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const paths = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n')
    const around = `daemon off; error_log stderr warn; pid ${folder}/nginx.pid; events {}\n`
    writeFileSync(`${folder}/nginx.conf`, `${around}http { access_log off; ${paths}\n${block}}\n`)
    return ['nginx', '-c', `${folder}/nginx.conf`, '-p', folder, '-e', 'stderr']
  },
  caddy: (setting) => {
    const { folder, port } = setting
    const tls = `tls ${folder}/cert.pem ${folder}/key.pem`
    const block = blockOf('caddyfile', setting).replaceAll(
      /^(\w+\.example\.com) \{$/gm,
      (_, name: string) => `https://${name}:${port} {\n  bind 127.0.0.1\n  ${tls}`,
    )
    const around = '{\n  admin off\n  auto_https disable_redirects\n}\n'
    writeFileSync(`${folder}/Caddyfile`, around + block)
    return ['caddy', 'run', '--config', `${folder}/Caddyfile`, '--adapter', 'caddyfile']
  },
}

for (const [name, command] of Object.entries(proxies)) {
  describe(`behind ${name}, as docs/install.md has it`, () => {
    const stack = new AsyncDisposableStack()
    let upstream: SimulatedUpstream
    let up: UpProcess
    let port = 0

    before(async () => {
      const folder = stack.use(await makeTempDir())
      upstream = stack.use(await startSimulatedUpstream())
      const args = [
        '--upstream',
        upstream.baseUrl,
        '--allow-host',
        'gate.example.com',
        '--allow-host',
        'weir.example.com',
      ]
      const env = { TOKENWEIR_ADMIN_TOKEN: token, UPSTREAM_API_KEY: 'sk-lent-to-this-machine-alone' }
      mkdirSync(folder.file('up'))
      up = stack.use(await startUpProcess({ directory: folder.file('up'), args, env }))
      selfSigned(folder.path)
      port = await freePort()
      const [program = '', ...rest] = command({ ...up, folder: folder.path, port })
      const child = spawn(program, rest, {
        cwd: folder.path,
        env: { PATH: `${process.env['PATH']}:/usr/sbin`, HOME: folder.path },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      const said = text(child.stderr)
      stack.defer(async () => {
        child.kill('SIGTERM')
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      })
      await untilListening(port, child).catch(async (error: unknown) => {
        child.kill()
        throw new Error(`${name}: ${await said}`, { cause: error })
      })
    })
    after(() => stack.disposeAsync())

    async function ask(
      site: string,
      path: string,
      options: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {},
      body = '',
    ): Promise<IncomingMessage> {
      const servername = `${site}.example.com`
      const headers = { Host: `${servername}:${port}`, ...options.headers }
      const fixed = {
        host: '127.0.0.1',
        port,
        path,
        servername,
        rejectUnauthorized: false,
        agent: false as const,
      }
      const req = request({ ...fixed, ...options, headers })
      req.on('error', () => {})
      const [response] = (await once(req.end(body), 'response')) as [IncomingMessage]
      return response
    }

    const post = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
    const chat = '{"model":"m","stream":true,"messages":[]}'

    it('an event arrives before the next is sent', async () => {
      const read = Promise.withResolvers<void>()
      upstream.replyOnce([
        write(streamHead),
        write(chunkFrame('data: one\n\n')),
        until(read.promise),
        write(chunkFrame('data: two\n\n')),
        write(lastChunk()),
      ])
      const response = await ask('gate', '/v1/chat/completions', post, chat)
      assert.equal(response.statusCode, 200)
      let seen = ''
      for await (const piece of response.setEncoding('utf8') as AsyncIterable<string>) {
        seen += piece
        if (seen.includes('one')) read.resolve()
      }
      assert.equal(seen, 'data: one\n\ndata: two\n\n')
    })

    it('a client that leaves ends the call at the upstream', async () => {
      const never = Promise.withResolvers<void>()
      const index = upstream.requests.length
      upstream.replyOnce([
        write(responseHead(200, [['Transfer-Encoding', 'chunked']])),
        write(chunkFrame('a')),
        until(never.promise),
      ])
      const response = await ask('gate', '/v1/chat/completions', post, chat)
      response.destroy()
      await upstream.waitForInFlight(0)
      assert.equal(await upstream.requests[index]?.replyEnd, 'client-left')
    })

    it('raw log and metrics are closed, however they are written', async () => {
      const headers = { 'x-tokenweir-admin-token': token }
      const paths = [
        '/v1/raw-log/status',
        '/v1/raw-log',
        '/v1//raw-log/status',
        '/v1/%72aw-log/status',
        '/metrics',
      ]
      for (const path of paths) {
        const response = await ask('gate', path, { headers })
        assert.equal(response.statusCode, 404, path)
        assert.equal(response.headers['x-tokenweir-error'], undefined, `${path} reached the gateway`)
        response.resume()
      }
    })

    it('nobody is taken for this machine: no lent key, no pid', async () => {
      const index = upstream.requests.length
      const response = await ask('gate', '/v1/chat/completions', post, chat)
      await text(response)
      assert.equal(upstream.requests[index]?.header('authorization'), undefined)
      let health: JsonRecord = {}
      await eventually('the past to be read', async () => {
        health = parseRecord(await text(await ask('gate', '/health')))
        return asRecord(health['token_budget'])['known'] === true
      })
      assert.equal(health['status'], 'ok')
      assert.equal(health['pid'], undefined)
    })

    it('the page asks for the token, and its events come at once', async () => {
      assert.equal((await ask('weir', '/api/proxy/status')).statusCode, 401)
      const headers = { 'x-tokenweir-admin-token': token }
      assert.equal((await ask('weir', '/api/proxy/status', { headers })).statusCode, 200)
      const events = await ask('weir', '/api/events?topics=gateway', { headers })
      assert.match(String(events.headers['content-type']), /^text\/event-stream/)
      const [first] = (await once(events, 'data')) as [Buffer]
      assert.ok(first.length > 0)
      events.destroy()
      const started = await ask('weir', '/api/proxy/stop', {
        method: 'POST',
        headers: { ...headers, Origin: 'https://evil.example' },
      })
      assert.equal(started.statusCode, 403)
      started.resume()
    })
  })
}
