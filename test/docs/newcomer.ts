// Follows a page in an empty folder, block after block. It runs in a network of its own, where the usual ports are
// free, and prints one JSON line for each block: what failed, or null.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { messageOf } from '../../src/lib/errors.ts'
import { startPostgres } from '../support/postgres.ts'
import { stall, write } from '../support/reply-step.ts'
import { jsonReply, responseHead } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { type DocBlock, docBlocks } from './doc-blocks.ts'

const [page = '', folder = '', programs = ''] = process.argv.slice(2)
const repository = fileURLToPath(new URL('../..', import.meta.url))

/** What the pages' blocks of JavaScript leave to the reader, who has read the words above them. */
const imports = `import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'
import { ChatOpenAI } from '@langchain/openai'
`

/** A server stays, as in a terminal of its own, until the next one takes its place; a command that follows ends after a while. */
const tokenweir = `#!/bin/bash
run() { exec "$NODE" "$REPOSITORY/bin/tokenweir.js" "$@"; }
end() {
  [ -f "$PROGRAMS/$1.pid" ] || return 0
  kill -INT "$(cat "$PROGRAMS/$1.pid")" 2>/dev/null
  for _ in $(seq 200); do kill -0 "$(cat "$PROGRAMS/$1.pid")" 2>/dev/null || break; sleep 0.05; done
  rm "$PROGRAMS/$1.pid"
}
case " $* " in
  *' --help '*) run "$@" ;;
  ' up '* | ' gateway '* | ' demo '* | ' dashboard '*)
    end dashboard
    [ "$1" = dashboard ] || end gateway
    name=gateway; [ "$1" != dashboard ] || name=dashboard
    (run "$@") > "$PROGRAMS/$name.log" 2>&1 &
    echo $! > "$PROGRAMS/$name.pid"
    for _ in $(seq 600); do
      ! grep -qE 'gateway: running|calls are recorded|dashboard on http' "$PROGRAMS/$name.log" || exit 0
      kill -0 $! 2>/dev/null || break
      sleep 0.05
    done
    cat "$PROGRAMS/$name.log" >&2; exit 1 ;;
  ' tail '* | *' --follow '*) timeout -s INT 2 "$NODE" "$REPOSITORY/bin/tokenweir.js" "$@"; code=$?; [ $code = 124 ] || exit $code ;;
  ' end ') end dashboard; end gateway ;;
  *) run "$@" ;;
esac
`

const standIns: Readonly<Record<string, string>> = {
  tokenweir,
  // A clone's own commands.
  npm: `#!/bin/bash
[ "$1" = start ] || exec /usr/bin/env -u NPM npm "$@"
shift; [ "$1" != -- ] || shift
exec tokenweir up "$@"
`,
  node: `#!/bin/bash
[ "$1" = bin/tokenweir.js ] || exec "$NODE" "$@"
shift; exec tokenweir "$@"
`,
  // A feed that goes on until its reader leaves.
  curl: `#!/bin/bash
case " $* " in
  *' -N '*) timeout 2 /usr/bin/curl "$@"; code=$?; [ $code = 124 ] || exit $code ;;
  *' -f'*) exec /usr/bin/curl "$@" ;;
  *) exec /usr/bin/curl --fail-with-body "$@" ;;
esac
`,
  // What it would fetch is among the packages of the tests.
  npx: `#!/bin/bash
exec "$@"
`,
  // Programs of others, which are tried for themselves among the tests of agents.
  ...Object.fromEntries(
    ['codex', 'claude', 'opencode', 'aider', 'pi'].map((name) => [
      name,
      `#!/bin/bash
while [ $# -gt 0 ]; do [ "$1" != -- ] || { shift; exec "$@" < /dev/null; }; shift; done
`,
    ]),
  ),
}

for (const [name, text] of Object.entries(standIns)) {
  writeFileSync(`${programs}/${name}`, text)
  chmodSync(`${programs}/${name}`, 0o755)
}
symlinkSync(`${repository}test/node_modules`, `${programs}/node_modules`)
mkdirSync(`${programs}/home/.pi/agent`, { recursive: true })

const pythonBlock = `import importlib.util, sys
block = compile(sys.argv[1], 'block', 'exec')
if importlib.util.find_spec('openai'):
    from openai import OpenAI
    exec(block)
`

const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${programs}:${repository}test/node_modules/.bin:${process.env['PATH']}`,
  HOME: `${programs}/home`,
  NODE: process.execPath,
  REPOSITORY: repository.replace(/\/$/, ''),
  PROGRAMS: programs,
  // Where the pages mean OpenAI.
  TOKENWEIR_UPSTREAM: 'http://localhost:11434',
  OPENAI_API_KEY: 'sk-of-a-newcomer',
  ANTHROPIC_API_KEY: 'sk-ant-of-a-newcomer',
}

interface Ended {
  readonly code: number | null
  readonly said: string
}

function run(program: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('timeout', ['60', program, ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text
      })
    child.once('error', reject)
    // A server that stays has the pipes, too.
    child.once('exit', (code) => resolve({ code, said }))
  })
}

/** All blocks of a page are entered in one terminal: what one of them exports is there for the next. */
function shell(text: string): Promise<Ended> {
  const exported = '"$PROGRAMS/exported"'
  const script = `[ ! -f ${exported} ] || . ${exported}\n${text}\nexport -p > ${exported}`
  return run('bash', ['-e', '-o', 'pipefail', '-c', script])
}

/** A line of output with its figures and names taken out: what stands where. */
function shapeOf(line: string): string {
  return line.trim().replaceAll(/\s{2,}.*/g, '')
}

/** What failed, or null. */
async function follow({ language, text }: DocBlock): Promise<string | null> {
  switch (language) {
    case 'sh':
      return failure(await shell(text))
    case 'console': {
      const [command = '', ...shown] = text.split('\n')
      const ended = await shell(command.replace(/^\$ /, ''))
      const head = shapeOf(shown.find((line) => /^\S+ {2,}\S/.test(line)) ?? '')
      return failure(ended) ?? (ended.said.includes(head) ? null : `does not print ${head}:\n${ended.said}`)
    }
    case 'js': {
      const file = `${programs}/block.mjs`
      writeFileSync(file, text.startsWith('import') ? text : imports + text)
      return failure(await run(process.execPath, [file]))
    }
    case 'python':
      // Without the client's package, its words are only compiled.
      return failure(await run('python3', ['-c', pythonBlock, text]))
    case 'json':
      return failureToParse(text)
    default:
      return `nothing here runs ${language}`
  }
}

function failure({ code, said }: Ended): string | null {
  return code === 0 ? null : `ended with ${code}:\n${said}`
}

function failureToParse(text: string): string | null {
  try {
    JSON.parse(text.startsWith('{') ? text : `{${text}}`)
    return null
  } catch (error) {
    return messageOf(error)
  }
}

/** The upstream reports limits, as hosted ones do. */
const limits = [
  ['x-ratelimit-limit-requests', '500'],
  ['x-ratelimit-remaining-requests', '212'],
  ['x-ratelimit-reset-requests', '14s'],
] as const
const eventsHead = responseHead(200, [['Content-Type', 'text/event-stream']])
const models = ['llama3.2', 'claude-sonnet-4-5', 'gpt-4.1'].map((id) => ({ id, object: 'model' }))
await using upstream = await startSimulatedUpstream({
  reply: (request) => {
    if (request.target.endsWith('/models')) return jsonReply(200, { object: 'list', data: models })
    if (request.header('x-first') !== undefined) return jsonReply(200, { choices: [{}] }, limits)
    return request.header('x-under-way') === undefined ? undefined : [write(eventsHead), stall()]
  },
})
const ollama = createServer((client) => {
  const there = connect(upstream.port, '127.0.0.1')
  client.on('error', () => there.destroy()).pipe(there)
  there.on('error', () => client.destroy()).pipe(client)
}).listen(11_434, '127.0.0.1')

const receiver = createHttpServer((_, res) => res.end('ok')).listen(8765, '127.0.0.1')
const isMoving = page.endsWith('moving-in.md')
await using postgres = isMoving || page.endsWith('sharing.md') ? await startPostgres() : null
/** What of a block is the reader's own: addresses of their servers, in place of those that stand for them. */
const own = new Map([
  [
    'postgres://tokenweir:…@db.example.com/tokenweir?sslmode=verify-full',
    (await postgres?.database('tokenweir')) ?? '',
  ],
  ['https://hooks.slack.com/services/…', 'http://127.0.0.1:8765/'],
  ['http://10.0.0.5:8080', 'http://localhost:11434'],
  ['http://10.0.0.6:8080', 'http://127.0.0.1:11434'],
  ['--url https://api.anthropic.com', '--url http://localhost:11434'],
])

const chat = `curl -sS http://localhost:9090/v1/chat/completions -H 'x-first: yes' -H 'Content-Type: application/json' -d '{"model":"llama3.2","messages":[]}'`
const blocks = docBlocks(readFileSync(page, 'utf8'))
// Whoever moves in comes from other programs, with their data.
if (isMoving) {
  mkdirSync(`${folder}/data`, { mode: 0o700 })
  using older = new DatabaseSync(`${folder}/data/llm_telemetry.db`)
  older.exec(`CREATE TABLE api_calls (id INTEGER PRIMARY KEY, timestamp TEXT, model TEXT, endpoint TEXT, input_tokens INTEGER,
    output_tokens INTEGER, total_ms REAL, status_code INTEGER, calls_count INTEGER DEFAULT 1);
    INSERT INTO api_calls (timestamp, model, endpoint, input_tokens, output_tokens, total_ms, status_code)
    VALUES ('2026-11-18T04:00:01+00:00', 'gpt-4.1', '/v1/chat/completions', 1000, 200, 1500, 200)`)
  const liteLlm = `CREATE TABLE "LiteLLM_SpendLogs" (request_id text, call_type text, spend float, prompt_tokens int,
    completion_tokens int, "startTime" timestamp, "endTime" timestamp, model text);
    INSERT INTO "LiteLLM_SpendLogs" VALUES ('r-1', 'acompletion', 0.01, 100, 20, '2026-11-18 04:00:00', '2026-11-18 04:00:02', 'gpt-4.1')`
  env['DATABASE_URL'] = await postgres?.database('litellm')
  const made = failure(await run('psql', [env['DATABASE_URL'] ?? '', '-qc', liteLlm]))
  if (made !== null) throw new Error(made)
}
// Whoever comes to a page has begun by the README, and has made a call.
if (!page.endsWith('README.md')) {
  const begun = failure(
    await shell(`tokenweir up --upstream http://localhost:11434\n${chat}\ntokenweir calls`),
  )
  if (begun !== null) throw new Error(begun)
}
// While one reads, calls are under way.
const underWay = new AbortController()
const slow = { model: 'qwen3-coder', stream: true, messages: [] }
if (page.endsWith('commands-calls.md')) {
  fetch('http://localhost:9090/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-under-way': 'yes' },
    body: JSON.stringify(slow),
    signal: underWay.signal,
  }).catch(() => undefined)
}
for (const block of blocks) {
  const text = [...own].reduce((all, [placeholder, value]) => all.replaceAll(placeholder, value), block.text)
  // Output that is shown is that of a gateway with calls.
  if (block.language === 'console') await shell(chat)
  const failed = block.reason === undefined ? await follow({ ...block, text }) : null
  process.stdout.write(`${JSON.stringify({ ...block, failed })}\n`)
}
underWay.abort()
await shell('tokenweir end')
ollama.close()
receiver.close()
