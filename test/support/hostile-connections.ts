import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** How a connection ends after its last byte: torn down, in order, or not at all for a while. */
export type HostileEnd = 'reset' | 'fin' | 'half-open'

export const hostileEnds: readonly HostileEnd[] = ['reset', 'fin', 'half-open']

/** What a stranger may send. */
export interface HostileKind {
  readonly name: string
  /** The same length for each session. A session is `sessionLength` characters long. */
  readonly bytes: (session: string) => Buffer
}

/** One connection: a kind, cut behind so many bytes, and how it ends. */
export interface HostileConnection {
  readonly kind: HostileKind
  readonly at: number
  readonly end: HostileEnd
  readonly session: string
}

/** How long a connection is left half-open before it is reset. */
const holdMs = 40
const sessionLength = 7
const json = '{"model":"m","messages":[]}'
const stream = '{"model":"m","stream":true,"messages":[]}'

const chat = '/v1/chat/completions'
const host = 'Host: 127.0.0.1\r\n'

/** A request as text. */
function request(line: string, session: string, fields = '', body = ''): string {
  const name = line.endsWith(' HTTP/1.0') || line.includes(' HTTP/') ? line : `${line} HTTP/1.1`
  return `${name}\r\n${host}x-tokenweir-session: ${session}\r\n${fields}\r\n${body}`
}

function sized(target: string, session: string, body: string, fields = ''): string {
  return request(`POST ${target}`, session, `${fields}Content-Length: ${body.length}\r\n`, body)
}

function chunked(target: string, session: string, chunks: string, fields = ''): string {
  return request(`POST ${target}`, session, `${fields}Transfer-Encoding: chunked\r\n`, chunks)
}

function singles(text: string): string {
  return `${text.replaceAll(/./g, '1\r\n$&\r\n')}0\r\n\r\n`
}

function kind(name: string, text: (session: string) => string): HostileKind {
  return { name, bytes: (session) => Buffer.from(text(session), 'latin1') }
}

/** A TLS 1.2 ClientHello, as far as its head. */
const clientHello = '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03' + '\x5a'.repeat(40)

/** Kinds that any HTTP server may meet. `target` is one that it answers to GET. */
function anywhere(target: string): readonly HostileKind[] {
  return [
    kind('GET', (session) => request(`GET ${target}`, session)),
    kind('GET of what is not there', (session) => request('GET /x', session)),
    kind('HEAD', (session) => request(`HEAD ${target}`, session)),
    kind('CONNECT', (session) => request('CONNECT a:443', session)),
    kind('CONNECT behind a request', (session) =>
      [request(`GET ${target}`, session), request('CONNECT a:443', session)].join(''),
    ),
    kind('CONNECT with bytes behind it', (session) => `${request('CONNECT a:443', session)}${clientHello}`),
    kind('upgrade to WebSocket', (session) =>
      request(`GET ${target}`, session, 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    ),
    kind('upgrade to h2c', (session) =>
      request(`GET ${target}`, session, 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n'),
    ),
    kind("HTTP/2's preface", () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00'),
    kind('TLS', () => clientHello),
    kind('the PROXY protocol', (session) =>
      ['PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n', request(`GET ${target}`, session)].join(''),
    ),
    kind('bytes that are nothing', () => '\x00\xff\x80\x7f\r\r\n\n'.repeat(8)),
    kind('OPTIONS *', (session) => request('OPTIONS *', session)),
    kind('TRACE', (session) => request(`TRACE ${target}`, session)),
    kind('a method of RTSP', (session) => request('SETUP /x RTSP/1.0', session)),
    kind('an absolute target', (session) => request(`GET http://a${target}`, session)),
    kind('HTTP/1.0', (session) => request(`GET ${target} HTTP/1.0`, session)),
    kind('an unknown expectation', (session) => request(`GET ${target}`, session, 'Expect: a\r\n')),
    kind('a length and a coding', (session) =>
      chunked(target, session, '0\r\n\r\n', 'Content-Length: 5\r\n'),
    ),
    kind('a folded field', (session) => request(`GET ${target}`, session, 'X-A: b\r\n c\r\n')),
    kind('a NUL in a field', (session) => request(`GET ${target}`, session, 'X-A: b\0c\r\n')),
    kind('empty lines first', (session) => '\r\n'.repeat(40) + request(`GET ${target}`, session)),
    kind('40 requests at once', (session) => request(`GET ${target}`, session).repeat(40)),
    kind(
      'what is malformed behind a request',
      (session) => `${request(`GET ${target}`, session)}\x01\x02\r\n\r\n`,
    ),
  ]
}

/** What comes to a gateway's port. */
export const gatewayKinds: readonly HostileKind[] = [
  ...anywhere('/v1/models'),
  kind('a call', (session) => sized(chat, session, json)),
  kind('a stream', (session) => sized(chat, session, stream)),
  kind('a call in chunks', (session) => chunked(chat, session, `1b\r\n${json}\r\n0\r\n\r\n`)),
  kind('a call in chunks of a byte', (session) => chunked(chat, session, singles(json))),
  kind('a call with extensions and trailers', (session) =>
    chunked(chat, session, `1b;a="b"\r\n${json}\r\n0;c\r\nX-T: u\r\n\r\n`),
  ),
  kind('a call of HTTP/1.0', (session) =>
    request(`POST ${chat} HTTP/1.0`, session, `Content-Length: ${json.length}\r\n`, json),
  ),
  kind('a call that waits to be let go on', (session) =>
    sized(chat, session, json, 'Expect: 100-continue\r\n'),
  ),
  kind('three calls at once', (session) => sized(chat, session, stream).repeat(3)),
  kind(
    'CONNECT behind a call',
    (session) => sized(chat, session, stream) + request('CONNECT a:443', session),
  ),
  kind('an upload', (session) => sized('/v1/files', session, 'x'.repeat(60))),
  kind('an upload in chunks', (session) => chunked('/v1/files', session, singles('upload'))),
  kind('a body that is too large', (session) =>
    request(`POST ${chat}`, session, 'Content-Length: 999999999999\r\n', json),
  ),
  kind('a chunk size that is none', (session) => chunked(chat, session, `2\r\n{}\r\nnonsense\r\n`)),
  kind('zeros of a chunk size', (session) => chunked(chat, session, `${'0'.repeat(60)}2\r\n{}\r\n0\r\n\r\n`)),
  kind('the feed of payloads', (session) => request('GET /v1/raw-log/stream', session)),
  kind('a switch', (session) =>
    sized('/v1/raw-log/toggle', session, '{"enabled":false}', 'Content-Type: application/json\r\n'),
  ),
  kind('a scrape', (session) => request('GET /metrics', session)),
]

/** What comes to a dashboard's port. */
export const dashboardKinds: readonly HostileKind[] = [
  ...anywhere('/api/proxy/status'),
  kind('the page', (session) => request('GET /', session)),
  kind('events', (session) =>
    request('GET /api/events?topics=calls,live,gateway,log,payloads,beat', session),
  ),
  kind('two streams of events at once', (session) =>
    request('GET /api/events?topics=live', session).repeat(2),
  ),
  kind('a question', (session) => request('GET /api/query?limit=10', session)),
  kind('a body', (session) => sized('/api/notes', session, '{"a":1}', 'Content-Type: application/json\r\n')),
  kind('a body in chunks of a byte', (session) =>
    chunked('/api/notes', session, singles('{"a":1}'), 'Content-Type: application/json\r\n'),
  ),
  kind('a body that is too large', (session) =>
    request('POST /api/notes', session, 'Content-Length: 999999999999\r\n', json),
  ),
]

/** So many connections: every kind and end, and the places to cut it as evenly as the number allows. */
export function* hostileConnections(
  kinds: readonly HostileKind[],
  count: number,
): Generator<HostileConnection> {
  const share = Math.ceil(count / kinds.length / hostileEnds.length)
  let serial = 0
  for (let round = 0; round < share; round++) {
    for (const each of kinds) {
      const { length } = each.bytes(sessionOf(0))
      for (const end of hostileEnds) {
        if (serial === count) return
        // Never the same stride for all: the last place is the whole kind.
        const at = share > length ? (round % length) + 1 : Math.ceil(((round + 1) * length) / share)
        yield { kind: each, at, end, session: sessionOf(serial++) }
      }
    }
  }
}

/** The session that a connection with this number names. */
export function sessionOf(serial: number): string {
  return `s${String(serial).padStart(sessionLength - 1, '0')}`
}

/** Calls whose heads are whole in what a connection has sent. */
export function callsIn({ kind: { bytes }, at, session }: HostileConnection): number {
  const sent = bytes(session).toString('latin1', 0, at)
  return sent.split(/(?:GET|HEAD|POST) (?:http:\/\/a)?\/v1\/(?!raw-log)[^]*?\r\n\r\n/).length - 1
}

/**
 * Makes one connection, and answers the ids of the calls that it was answered, once it is over on our side. Rejects where
 * nobody listens.
 */
export async function playHostile(
  port: number,
  { kind, at, end, session }: HostileConnection,
): Promise<readonly string[]> {
  const socket = connect(port, '127.0.0.1')
  let isRefused = false
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    isRefused ||= error.code === 'ECONNREFUSED'
  })
  const over = new Promise((resolve) => void socket.once('close', resolve))
  const bytes = kind.bytes(session).subarray(0, at)
  await new Promise<void>((written) => {
    socket.write(bytes, () => written())
  })
  if (end === 'reset') socket.resetAndDestroy()
  else {
    if (end === 'fin') socket.end()
    // A server that waits for our end, or for more, is not waited for.
    await Promise.race([over, delay(holdMs)])
    socket.resetAndDestroy()
  }
  await over
  if (isRefused) throw new Error(`nobody listens on port ${port} any more`)
  return [...received.matchAll(/x-tokenweir-call-id: (\w+)/g)].map(([, id = '']) => id)
}
