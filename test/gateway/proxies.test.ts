import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type Server, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { exchange } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { recordedCalls } from '../support/recorded-calls.ts'
import { selfSigned } from '../support/self-signed.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const chat = { headers: [['Content-Type', 'application/json'] as const], body: '{"model":"m","messages":[]}' }

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

test('an http upstream is asked of HTTP_PROXY, with the credentials of its address, which stand nowhere else', async () => {
  const seen: IncomingMessage[] = []
  const proxy = createServer((req, res) => {
    seen.push(req)
    req.resume().on('end', () => res.end('{"by":"the proxy"}'))
  })
  const port = await listening(proxy)
  await using gateway = await startGatewayProcess({
    upstream: 'http://upstream.test:8000/api',
    env: { HTTP_PROXY: `http://some%20one:pass-word@127.0.0.1:${port}`, NO_PROXY: 'other.test' },
  })
  for (let i = 0; i < 3; i++) {
    const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions?a=%20', chat)
    assert.deepEqual([answer.status, answer.body.toString()], [200, '{"by":"the proxy"}'])
  }
  assert.equal(seen.length, 3)
  assert.equal(new Set(seen.map((req) => req.socket)).size, 1)
  const [{ url, headers, rawHeaders }] = seen as [IncomingMessage]
  assert.equal(url, 'http://upstream.test:8000/api/chat/completions?a=%20')
  assert.equal(headers.host, 'upstream.test:8000')
  assert.equal(rawHeaders.filter((name) => name.toLowerCase() === 'host').length, 1)
  assert.equal(
    headers['proxy-authorization'],
    `Basic ${Buffer.from('some one:pass-word').toString('base64')}`,
  )
  const line = `calls go through the proxy http://127.0.0.1:${port} (HTTP_PROXY)`
  assert.ok(gateway.stdout.includes(line), gateway.stdout)
  assert.doesNotMatch(gateway.stdout + gateway.stderr, /pass-word/)
  proxy.closeAllConnections()
  proxy.close()
})

test('the proxy of an http upstream that wants a password is named, and its 407 is not the upstream’s answer', async () => {
  const proxy = createServer((_req, res) => {
    res.writeHead(407, { 'proxy-authenticate': 'Basic' }).end('<h1>Who are you?</h1>')
  })
  const port = await listening(proxy)
  await using gateway = await startGatewayProcess({
    upstream: 'http://upstream.test:8000/api',
    env: { HTTP_PROXY: `http://127.0.0.1:${port}` },
  })
  const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
  assert.deepEqual([answer.status, answer.header('x-tokenweir-error')], [502, 'upstream_unreachable'])
  assert.match(
    answer.body.toString(),
    /through the proxy http:\/\/127\.0\.0\.1:\d+ \(HTTP_PROXY\): it answered 407/,
  )
  const [row] = await recordedCalls(gateway, 1)
  assert.deepEqual([row?.status, row?.failure_code], [502, 'upstream_unreachable'])
  proxy.closeAllConnections()
  proxy.close()
})

test('an https upstream is tunnelled to by CONNECT; one whose certificate nobody knows is told how to be trusted', async () => {
  await using folder = await makeTempDir()
  const certificate = selfSigned(folder.path)
  const upstream = createTlsServer(certificate, (req, res) => {
    req.resume().on('end', () => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('data: one\n\n')
      res.end('data: [DONE]\n\n')
    })
  })
  const upstreamPort = await listening(upstream)
  const asked: string[] = []
  const proxy = createServer((_req, res) => res.writeHead(500).end())
  proxy.on('connect', (req: IncomingMessage, client) => {
    asked.push(`${req.url} ${req.headers['proxy-authorization']}`)
    if (req.headers['proxy-authorization'] !== `Basic ${btoa('me:right')}`) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const server = connect(upstreamPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      server.pipe(client).pipe(server)
    })
    for (const socket of [server, client]) socket.on('error', () => socket.destroy())
  })
  const proxyPort = await listening(proxy)
  const environments = {
    trusted: { https_proxy: `http://me:right@127.0.0.1:${proxyPort}`, NODE_EXTRA_CA_CERTS: certificate.file },
    unknown: { https_proxy: `http://me:right@127.0.0.1:${proxyPort}` },
    refused: { https_proxy: `http://me:wrong@127.0.0.1:${proxyPort}` },
  }
  const bodyOf = async (env: Readonly<Record<string, string>>): Promise<string> => {
    await using gateway = await startGatewayProcess({ upstream: 'https://upstream.test:8443/v1', env })
    const first = await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
    const second = await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
    assert.equal(first.body.toString(), second.body.toString())
    assert.equal((await recordedCalls(gateway, 2))[0]!.status, first.status)
    return `${first.status} ${first.body.toString()}`
  }
  assert.equal(await bodyOf(environments.trusted), '200 data: one\n\ndata: [DONE]\n\n')
  assert.match(
    await bodyOf(environments.unknown),
    /^502 .*certificate is not trusted.*DEPTH_ZERO_SELF_SIGNED_CERT.*NODE_EXTRA_CA_CERTS/,
  )
  assert.match(
    await bodyOf(environments.refused),
    new RegExp(`^502 .*through the proxy http://127.0.0.1:${proxyPort} \\(https_proxy\\): it answered 407`),
  )
  assert.ok(asked.length >= 3)
  assert.deepEqual(new Set(asked.map((line) => line.split(' ')[0])), new Set(['upstream.test:8443']))
  upstream.closeAllConnections()
  upstream.close()
  proxy.close()
})

test('a proxy that is not there is named in place of the upstream', async () => {
  await using gateway = await startGatewayProcess({
    upstream: 'https://upstream.test/v1',
    env: { HTTPS_PROXY: 'http://127.0.0.1:1' },
  })
  const answer = await exchange(gateway.port, 'POST', '/v1/chat/completions', chat)
  assert.match(
    answer.body.toString(),
    /through the proxy http:\/\/127\.0\.0\.1:1 \(HTTPS_PROXY\): .*ECONNREFUSED/,
  )
})
