/**
 * Calls to upstreams that close the connections they said they would keep: `node test/faults/closing-upstreams.ts
 * [--rounds 1000] [--seconds 120]`. Streams, each followed by a call at once, from one and from eight clients,
 * before an upstream that closes 0 to 40 ms after each stream, and before servers of Node, Python and Go as far as
 * they are there; none may fail (R40). Then six calls a second to an upstream that drops, without a word, what
 * idled for a second: at most 2% may fail after the first minute (R40b). Ends with 1 where a goal is missed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { exchange, requestBytes } from '../support/exchange.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { inParallel } from '../support/in-parallel.ts'
import { openRawClient } from '../support/raw-client.ts'
import { type ReplyStep, cut, reset, until, wait } from '../support/reply-step.ts'
import { bodyReply, jsonReply, sseEvent } from '../support/response-bytes.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '1000' }, seconds: { type: 'string', default: '120' } },
})
const rounds = Number(values.rounds)
const seconds = Number(values.seconds)
const idleLimitMs = 1000
const perSecond = 6
const body = '{"model":"m","messages":[]}'
const chat = { headers: [['Content-Type', 'application/json'] as const], body }
const events = [sseEvent({ choices: [{ index: 0, delta: { content: 'w' } }] }), sseEvent('[DONE]')]
const streamed = bodyReply(events, { headers: [['Content-Type', 'text/event-stream']] })
const plain = jsonReply(200, {}, [['Keep-Alive', 'timeout=5, max=100']])

const pythonServer = `
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        self.send_response(200)
        if self.path.endswith('stream'):
            self.send_header('Content-Type', 'text/event-stream')
            self.send_header('Transfer-Encoding', 'chunked')
            self.end_headers()
            self.wfile.write(b'5\\r\\ndata:\\r\\n0\\r\\n\\r\\n')
        else:
            self.send_header('Content-Length', '2')
            self.end_headers()
            self.wfile.write(b'{}')
    def log_message(self, *args): pass
server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
`
const goServer = `package main
import ("fmt"; "io"; "net"; "net/http"; "strings")
func main() {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if strings.HasSuffix(r.URL.String(), "stream") { w.Write([]byte("data:")); w.(http.Flusher).Flush() } else { w.Write([]byte("{}")) }
	}))
}
`

const words: string[] = []
for (const afterMs of [0, 0.2, 1, 3, 40]) {
  await using upstream = await startSimulatedUpstream({
    reply: ({ target }) => (target.endsWith('stream') ? { steps: endsLater(afterMs) } : plain),
  })
  await judge(`closing ${afterMs} ms after`, upstream.port)
}
const node = createServer((req, res) => {
  req
    .resume()
    .on('end', () => (req.url!.endsWith('stream') ? res.write('data:') && res.end() : res.end('{}')))
})
await once(node.listen(0, '127.0.0.1'), 'listening')
await judge('Node', (node.address() as AddressInfo).port)
node.closeAllConnections()
node.close()
await using folder = await makeTempDir()
writeFileSync(`${folder.path}/server.go`, goServer)
await judgeProgram('Python', 'python3', ['-c', pythonServer])
await judgeProgram('Go', 'go', ['run', `${folder.path}/server.go`])
await dropsIdle()
console.log(`measured: ${words.join('; ')}`)

/** A stream, and the end of its connection; not by a timer, which would not do less than a millisecond. */
function* endsLater(afterMs: number): Generator<ReplyStep> {
  yield* streamed
  const fromMs = performance.now()
  while (performance.now() - fromMs < afterMs) yield until(setImmediate())
  yield cut()
}

async function judgeProgram(name: string, program: string, args: readonly string[]): Promise<void> {
  if (spawnSync(program, ['--version']).error !== undefined) {
    words.push(`${name}: not there`)
    return
  }
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [text] = (await once(child.stdout!, 'data')) as [Buffer]
  await judge(name, Number(text.toString()))
  child.kill()
}

async function judge(name: string, port: number): Promise<void> {
  await using gateway = await startGatewayProcess({
    upstream: `http://127.0.0.1:${port}/v1`,
    args: ['--max-concurrent', '8', '--slot-cooldown-ms', '0'],
  })
  let failed = 0
  for (const clients of [1, 8]) {
    await inParallel(Array.from({ length: clients }), clients, async () => {
      await using client = await openRawClient(gateway.port)
      for (let round = 0; round < rounds / clients; round++) {
        for (const target of ['/v1/chat/completions?stream', '/v1/chat/completions']) {
          await client.send(requestBytes('POST', target, chat))
          const answer = await client.response('POST')
          if (answer.status !== 200 || !answer.complete) failed++
        }
      }
    })
  }
  words.push(`${name}: ${failed} of ${4 * rounds} failed`)
  if (failed > 0) process.exitCode = 1
}

async function dropsIdle(): Promise<void> {
  const random = seededRandom(40)
  const idledMs = ({ connection }: SeenRequest): number =>
    performance.now() - (connection.requests.at(-2)?.replyEndAtMs ?? performance.now())
  await using upstream = await startSimulatedUpstream({
    reply: (request) =>
      idledMs(request) > idleLimitMs ? [reset()] : [wait(50 + 1000 * random()), ...jsonReply(200, {})],
  })
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    args: ['--max-concurrent', '100'],
  })
  const figures = { first: { calls: 0, failed: 0 }, later: { calls: 0, failed: 0 } }
  const calls: Promise<void>[] = []
  const startedMs = performance.now()
  while (performance.now() - startedMs < seconds * 1000) {
    const part =
      performance.now() - startedMs < Math.min(60, seconds / 2) * 1000 ? figures.first : figures.later
    part.calls++
    calls.push(
      exchange(gateway.port, 'POST', '/v1/chat/completions', chat).then(({ status }) => {
        if (status !== 200) part.failed++
      }),
    )
    await delay((-Math.log(1 - random()) * 1000) / perSecond)
  }
  await Promise.all(calls)
  const { first, later } = figures
  words.push(
    `dropping what idled 1 s: ${first.failed} of ${first.calls} failed at first, then ${later.failed} of ${later.calls}`,
  )
  if (later.failed > 0.02 * later.calls) process.exitCode = 1
}
