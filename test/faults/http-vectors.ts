/**
 * What nginx, and HAProxy where it is installed, make of the vectors that the gateway is tested with:
 * `node test/faults/http-vectors.ts [--all]`. Only tells; the gateway's own test is
 * `test/gateway/malformed-never-passes.test.ts`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { allVectors } from '../support/http-vectors/all-vectors.ts'
import { differencesOf, playVector } from '../support/http-vectors/play-vector.ts'
import { jsonReply } from '../support/response-bytes.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { untilListening } from '../support/until-listening.ts'

/** What these proxies do in a few milliseconds; longer is taken for never. */
const limitMs = 300

interface Control {
  readonly name: string
  readonly version: readonly string[]
  readonly run: (file: string, folder: string) => readonly string[]
  config(port: number, upstreamPort: number, folder: string): string
}

const controls: readonly Control[] = [
  {
    name: 'nginx',
    version: ['nginx', '-v'],
    run: (file, folder) => ['nginx', '-p', folder, '-c', file, '-e', `${folder}/error.log`],
    config: (port, upstreamPort, folder) => `
      daemon off; master_process off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
      events { worker_connections 256; }
      http {
        access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;
        fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        server {
          listen 127.0.0.1:${port};
          large_client_header_buffers 4 64k; client_max_body_size 256m;
          location / { proxy_pass http://127.0.0.1:${upstreamPort}; proxy_http_version 1.1; }
        }
      }`,
  },
  {
    name: 'haproxy',
    version: ['haproxy', '-v'],
    run: (file) => ['haproxy', '-db', '-f', file],
    config: (port, upstreamPort) => `
global
  tune.bufsize 131072
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen control
  bind 127.0.0.1:${port}
  server upstream 127.0.0.1:${upstreamPort}
`,
  },
]

/** Vectors that went otherwise than with us. */
interface Count {
  /** Malformed, and sent on to the upstream all the same. */
  forwarded: number
  /** Refused or answered by our rule alone, and sent on. */
  forwardedByRule: number
  /** Kept from the upstream, with another answer. */
  status: number
  /** Well-formed, and not passed on as it should be. */
  odd: number
}

/** Plays all vectors, tells each difference, and answers how many there are of which kind. */
async function count(
  name: string,
  port: number,
  upstream: Awaited<ReturnType<typeof startSimulatedUpstream>>,
): Promise<Count> {
  const count = { forwarded: 0, forwardedByRule: 0, status: 0, odd: 0 }
  for (const vector of allVectors) {
    const played = await playVector(vector, { port, upstream, limitMs })
    const differences = differencesOf(vector, played)
    if (differences.length === 0) continue
    const isForwarded = played.forwarded.some(({ target }) => target !== '/v1/smuggled')
    if (vector.passes.length > 0) count.odd += 1
    else if (!isForwarded) count.status += 1
    else if (vector.closes && vector.byOurRule !== true) count.forwarded += 1
    else count.forwardedByRule += 1
    if (showAll) console.log(`${name}: ${vector.what} (RFC ${vector.rule}): ${differences.join('; ')}`)
  }
  return count
}

const { values } = parseArgs({ options: { all: { type: 'boolean', default: false } } })
const showAll = values.all
await using upstream = await startSimulatedUpstream({ reply: () => jsonReply(200, {}) })
const counts: Record<string, Count> = {}
{
  await using gateway = await startGatewayProcess({ upstream: upstream.origin })
  counts['tokenweir'] = await count('tokenweir', gateway.port, upstream)
}
for (const control of controls) {
  const [program = '', ...versionArgs] = control.version
  const version = spawnSync(program, versionArgs, { encoding: 'utf8' })
  if (version.error !== undefined) {
    console.log(`${control.name} is not installed`)
    continue
  }
  await using folder = await makeTempDir()
  mkdirSync(folder.path, { recursive: true })
  const port = await freePort()
  const file = `${folder.path}/control.conf`
  writeFileSync(file, control.config(port, upstream.port, folder.path))
  const [command = '', ...args] = control.run(file, folder.path)
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    await untilListening(port, child)
    const [line = ''] = `${version.stdout}${version.stderr}`.split('\n')
    counts[line.slice(0, 40)] = await count(control.name, port, upstream)
  } finally {
    child.kill('SIGKILL')
  }
}
const malformed = allVectors.filter(
  ({ passes, closes, byOurRule }) => passes.length === 0 && closes && byOurRule !== true,
)
const odd = allVectors.filter(({ passes }) => passes.length > 0)
const ours = allVectors.length - malformed.length - odd.length
console.log(
  `${allVectors.length} vectors: ${malformed.length} malformed, ${ours} refused or answered by our rule, ${odd.length} well-formed`,
)
console.table(counts)
