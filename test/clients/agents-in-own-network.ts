/**
 * Runs coding agents against a gateway, each configured by nothing but what `tokenweir env` prints, in the network namespace
 * that `agents.long.test.ts` starts this in: there is loopback, and nothing else. Prints what was seen as JSON.
 */
import { execFile, spawn } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { type AddressInfo, connect, createServer } from 'node:net'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { agentTask, answerAgent } from '../support/agent-model.ts'
import type { ReplyScript } from '../support/reply-step.ts'
import type { SeenRequest } from '../support/seen-request.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { startGatewayOfUpstreams } from '../support/upstreams-file.ts'
import { type AgentRun, agents, builtInModel, type SeenRuns } from './agents.ts'

const run = promisify(execFile)
const command = fileURLToPath(new URL('../../bin/tokenweir.js', import.meta.url))
const modules = fileURLToPath(new URL('../agents/node_modules', import.meta.url))
/** Its package puts its binary in place by an install script, of which none is run. */
const opencode = join(modules, `opencode-${process.platform}-${process.arch}`, 'bin')
const limitMs = 180_000

const [, , folder = ''] = process.argv
const namesAsked = new Set<string>()
const nameServer = await startNameServer()
const reply = (request: SeenRequest): ReplyScript => ({ steps: answerAgent(request) })
const upstream = await startSimulatedUpstream({ reply })
const others = { codex: await startSimulatedUpstream({ reply }), pi: await startSimulatedUpstream({ reply }) }
// Two of them have upstreams of their own behind the same gateway, by the model that they ask for.
const gateway = await startGatewayOfUpstreams({
  upstream: upstream.baseUrl,
  named: Object.entries(others).map(([name, { origin }]) => ({
    name,
    urls: [origin],
    models: [agents[name]!.model],
    credentials: 'client',
  })),
})
const names = Object.keys(agents)
const directPort = Number(new URL(upstream.origin).port)
let day: string
let runs: readonly AgentRun[]
let through: readonly SeenRequest[]
let direct: readonly SeenRequest[]
// What agents send has the day in it.
do {
  day = new Date().toDateString()
  ;[runs, through] = await runAll(gateway.port)
  ;[, direct] = await runAll(directPort)
} while (day !== new Date().toDateString())
const namesOfAll = [...namesAsked].sort()
const builtIn = await runBuiltIn(gateway.port)
await gateway.stop()
const { stdout } = await run(process.execPath, [command, 'calls', '--json', '--db', gateway.databaseFile])
const credentials = through.map(
  (request) => request.header('authorization') ?? request.header('x-api-key') ?? '',
)
const seen: SeenRuns = {
  runs,
  calls: stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as SeenRuns['calls'][number]),
  sent: Object.fromEntries(
    names.map((name) => [name, { through: sentBy(name, through), direct: sentBy(name, direct) }]),
  ),
  credentials: [...new Set(credentials)].sort(),
  namesAsked: namesOfAll,
  builtIn,
}
process.stdout.write(JSON.stringify(seen))
await gateway[Symbol.asyncDispose]()
for (const each of [upstream, ...Object.values(others)]) await each.close()
nameServer.close()

/** All at once, each in a home of its own that is empty; and what they sent. */
async function runAll(port: number): Promise<[readonly AgentRun[], readonly SeenRequest[]]> {
  const all = [upstream, ...Object.values(others)]
  const before = all.map(({ requests }) => requests.length)
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true })
  const ended = await Promise.all(names.map((name) => runAgent(name, port)))
  return [ended, all.flatMap(({ requests }, index) => requests.slice(before[index]))]
}

async function runAgent(name: string, port: number): Promise<AgentRun> {
  const { invocation, model, offered = true } = agents[name]!
  const home = join(folder, name)
  mkdirSync(join(home, 'work'), { recursive: true })
  const asked = ['env', name, '--offline', '--port', String(port), ...(offered ? ['--model', model] : [])]
  const printed = await run(process.execPath, [command, ...asked])
  const [, config] = /^# This belongs in ~\/(.*)$/m.exec(printed.stderr) ?? []
  if (config !== undefined) {
    mkdirSync(dirname(join(home, config)), { recursive: true })
    writeFileSync(join(home, config), printed.stdout)
  }
  return runIn(home, name, `${config === undefined ? printed.stdout : ''}${invocation}`)
}

/** Codex with its own provider, which tries WebSocket first, behind a relay that counts these tries. */
async function runBuiltIn(port: number): Promise<SeenRuns['builtIn']> {
  let upgrades = 0
  const relay = createServer((client) => {
    const server = connect(port, '127.0.0.1')
    for (const socket of [client, server]) socket.on('error', () => socket.destroy())
    client.on('data', (bytes) => {
      if (/^upgrade: *websocket/im.test(bytes.toString('latin1'))) upgrades++
    })
    client.pipe(server).pipe(client)
  })
  await once(relay.listen(0, '127.0.0.1'), 'listening')
  const home = join(folder, 'built-in')
  mkdirSync(join(home, '.codex'), { recursive: true })
  mkdirSync(join(home, 'work'))
  const base = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/v1`
  writeFileSync(join(home, '.codex/config.toml'), `model = "${builtInModel}"\nopenai_base_url = "${base}"\n`)
  writeFileSync(join(home, '.codex/auth.json'), JSON.stringify({ OPENAI_API_KEY: 'key-of-the-user' }))
  const seen = await runIn(home, 'built-in', agents['codex']!.invocation)
  relay.close()
  return { ...seen, upgrades }
}

async function runIn(home: string, name: string, shell: string): Promise<AgentRun> {
  const child = spawn('sh', ['-c', shell], {
    cwd: join(home, 'work'),
    env: {
      PATH: [opencode, join(modules, '.bin'), dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      HOME: home,
      TERM: 'dumb',
      OPENAI_API_KEY: 'key-of-the-user',
      ANTHROPIC_API_KEY: 'key-of-the-user',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  const file = join(home, 'work', agentTask.file)
  const left = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return { name, end: code ?? signal, output, left }
}

/** The agent's requests as the upstream saw them, each as one text; in an order of their own, as some overlap. */
function sentBy(name: string, requests: readonly SeenRequest[]): readonly string[] {
  const { model } = agents[name]!
  return requests
    .filter((request) => request.method === 'POST' && request.json()['model'] === model)
    .map((request) =>
      stable([request.method, request.target, ...headersOf(request), bodyOf(request)].join('\n')),
    )
    .sort()
}

/** The keys of objects in an order of ours, as Codex writes some in another at each run; the bytes' length tells the rest. */
function bodyOf({ body }: SeenRequest): string {
  const sorted = (_key: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value
  return `${body.length} bytes\n${JSON.stringify(JSON.parse(body.toString()), sorted)}`
}

/** But for what the gateway is to add, to take off or to write anew. */
function headersOf({ rawHeaders }: SeenRequest): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] ?? ''
    if (
      !/^(?:via|host|connection|content-length|transfer-encoding|accept-encoding|x-tokenweir-.*)$/i.test(
        header,
      )
    )
      lines.push(`${header}: ${rawHeaders[at + 1]}`)
  }
  return lines
}

/** Without ids and times, which differ from run to run. */
function stable(text: string): string {
  return text.replaceAll(
    /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|\bses_\w+|(?<=unix_ms\\?":)\d+|(?<=Chunk ID: )\w+|(?<=Wall time: )[\d.]+/g,
    '<id>',
  )
}

/** The only name server in this namespace: it knows no name, and remembers who was asked for. */
async function startNameServer(): Promise<Socket> {
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    namesAsked.add(nameIn(question))
    const answer = Buffer.from(question)
    // An answer (RFC 1035 §4.1.1), that recursion was available, and no such name.
    answer.writeUInt16BE(0x8183, 2)
    server.send(answer, from.port, from.address)
  })
  server.bind(53, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** The name in a message's first question, in small letters (RFC 1035 §4.1.2). */
function nameIn(question: Buffer): string {
  const labels: string[] = []
  for (let at = 12, length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return labels.join('.').toLowerCase()
}
