import {
  type HttpVector,
  answered,
  chatPath,
  getStart,
  malformed,
  passing,
  postStart,
} from './http-vector.ts'

const models = { method: 'GET', target: '/v1/models' }
const post = { method: 'POST', target: chatPath }
const get = `${getStart}\r\n`
const body = 'Content-Length: 2\r\n\r\n{}'
const upgrade = 'Connection: Upgrade\r\n'

/** One well-formed request and, behind its answer, a malformed one that ends the connection. */
function wellFormedFirst(what: string, first: string, passes: typeof models, rest: string): HttpVector {
  return {
    what,
    rule: '9112 §9.3.2',
    bytes: first + rest,
    passes: [passes],
    statuses: [200, 400],
    closes: true,
  }
}

/** Vectors of what lasts longer than one message, or ends it: persistence, pipelining, upgrade, expectations. */
export const connectionVectors: readonly HttpVector[] = [
  wellFormedFirst('a malformed request behind a GET', get, models, 'GET\r\n\r\n'),
  wellFormedFirst('two Hosts behind a GET', get, models, `${getStart}Host: evil\r\n\r\n`),
  wellFormedFirst('a bad target behind a GET', get, models, 'GET /v1/../x HTTP/1.1\r\nHost: a\r\n\r\n'),
  wellFormedFirst('more body than its length says', `${postStart}${body}`, post, '{"more":true}'),
  wellFormedFirst('a body behind a POST without a length', `${postStart}\r\n`, post, '{"model":"m"}'),
  wellFormedFirst(
    'bytes behind the last chunk',
    `${postStart}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    post,
    '3\r\nabc\r\n0\r\n\r\n',
  ),
  passing('9112 §9.3.2', 'three requests in one go', `${get}${postStart}${body}${get}`, models, post, models),
  passing('9112 §2.2', 'an empty line between requests', `${postStart}${body}\r\n${get}`, post, models),
  passing(
    '9112 §9.3',
    'Connection: close, and what stands behind it',
    `${getStart}Connection: close\r\n\r\n${get}`,
    models,
  ),
  passing(
    '9112 §9.3',
    'Connection: close among others',
    `${getStart}Connection: X-A, close\r\n\r\n${get}`,
    models,
  ),
  passing('9112 §9.3', 'HTTP/1.0, which does not go on', `GET /v1/models HTTP/1.0\r\n\r\n${get}`, models),
  answered('9110 §7.8', 'an upgrade to WebSocket', `${getStart}${upgrade}Upgrade: websocket\r\n\r\n`, 426),
  answered('9110 §7.8', 'an upgrade to anything', `${getStart}${upgrade}Upgrade: tls/1.3, x\r\n\r\n`, 426),
  passing(
    '9110 §7.8',
    'the offer of HTTP/2',
    `${postStart}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${body}`,
    { ...post, body: '{}', lacks: ['upgrade', 'http2-settings'] },
  ),
  passing('9110 §10.1.1', 'an expectation that nobody knows', `${postStart}Expect: 200-ok\r\n${body}`, {
    ...post,
    body: '{}',
    lacks: ['expect'],
  }),
  {
    what: 'Expect: 100-continue',
    rule: '9110 §10.1.1',
    bytes: `${postStart}Expect: 100-continue\r\n${body}`,
    passes: [{ ...post, body: '{}', lacks: ['expect'] }],
    statuses: [100, 200],
    closes: false,
  },
  {
    what: 'an expectation in a malformed request, which may still come',
    rule: '9110 §10.1.1',
    bytes: `${postStart}Host: b\r\nExpect: 100-continue\r\n${body}`,
    passes: [],
    statuses: [100, 400],
    closes: true,
  },
  malformed(
    '9112 §6.3',
    'an upgrade in a malformed request',
    `${postStart}${upgrade}Upgrade: websocket\r\nContent-Length: x\r\n\r\n`,
  ),
]
