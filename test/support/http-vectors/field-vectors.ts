import { type HttpVector, declined, getStart, malformed, passing, postStart } from './http-vector.ts'

const models = { method: 'GET', target: '/v1/models' }
const body = 'Content-Length: 2\r\n\r\n{}'

function request(lines: string): string {
  return `GET /v1/models HTTP/1.1\r\n${lines}\r\n`
}

function withHost(value: string): string {
  return request(`Host: ${value}\r\n`)
}

const badHosts: Readonly<Record<string, string>> = {
  empty: '',
  'blank space': '   ',
  'a list': 'localhost, localhost',
  'two words': 'local host',
  'user and password': 'me:secret@localhost',
  'a user': 'me@localhost',
  'a path': 'localhost/v1',
  'a query': 'localhost?a',
  'a fragment': 'localhost#a',
  'a scheme': 'http://localhost',
  'a port that is a word': 'localhost:http',
  'a port with a sign': 'localhost:-80',
  'two ports': 'localhost:80:80',
  'a bracket that stays open': '[::1',
  'a bracket that was not open': '::1]',
  'an IPv6 address without brackets': '::1',
  'a word in brackets': '[localhost]',
  'something behind the bracket': '[::1]x',
  'a backslash': 'localhost\\x',
  'a quote': '"localhost"',
  'angle brackets': '<localhost>',
  'a caret': 'local^host',
  'a bar': 'local|host',
  braces: '{localhost}',
  'letters beyond ASCII': 'l\xf6calhost',
}

/** Those that a token may not hold (RFC 9110 §5.6.2), but the colon, which ends the name. */
const noToken = '"(),/;<=>?@[\\]{} \t\0\x01\x0b\x0c\x1b\x7f\x80\xa0\xe9'

const badLines: Readonly<Record<string, string>> = {
  'a folded line': 'X-A: 1\r\n  folded\r\n',
  'a line folded with a tab': 'X-A: 1\r\n\tfolded\r\n',
  'a line folded to nothing': 'X-A: 1\r\n \r\n',
  'a name that is empty': ': 1\r\n',
  'no colon': 'X-A\r\n',
  'no colon, and a value': 'X-A 1\r\n',
  'a carriage return alone': 'X-A: 1\rX-B: 2\r\n',
  'a carriage return before the line end': 'X-A: 1\r\r\n',
  'a carriage return as value': 'X-A: \r \r\n',
  'NUL in a value': 'X-A: a\0b\r\n',
  'a control character in a value': 'X-A: a\x01b\r\n',
  'ESC in a value': 'X-A: a\x1bb\r\n',
  'a vertical tab in a value': 'X-A: a\vb\r\n',
  'DEL in a value': 'X-A: a\x7fb\r\n',
}

/** Vectors of the header section (RFC 9112 §5, RFC 9110 §5, §7.2, §7.6.1). */
export const fieldVectors: readonly HttpVector[] = [
  ...Object.entries(badHosts).map(([what, value]) =>
    malformed('9112 §3.2', `Host: ${what}`, withHost(value)),
  ),
  declined('9112 §3.2', 'Host: a port of seven digits', withHost('localhost:1234567')),
  malformed('9112 §3.2', 'no Host', request('X-A: 1\r\n')),
  malformed('9112 §3.2', 'two Hosts alike', request('Host: localhost\r\nHost: localhost\r\n')),
  malformed('9112 §3.2', 'two Hosts', request('Host: localhost\r\nHost: evil.example\r\n')),
  malformed(
    '9112 §3.2',
    'two Hosts, spelled differently',
    request('Host: localhost\r\nX: 1\r\nhOST: evil\r\n'),
  ),
  malformed('9112 §3.2', 'two Hosts, one of them empty', request('Host: localhost\r\nHost:\r\n')),
  malformed('9112 §3.2', 'three Hosts', request('Host: a\r\nHost: a\r\nHost: a\r\n')),
  malformed('9112 §5.1', 'a space behind the name Host', request('Host : localhost\r\n')),
  malformed('9112 §3.2', 'two Hosts in HTTP/1.0', 'GET /v1/models HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n'),
  malformed('9112 §3.2', 'two Hosts, and a body', `${postStart}Host: localhost\r\n${body}`),
  malformed(
    '9112 §3.2.2',
    'absolute form does not make up for a missing Host',
    'GET http://localhost/v1/models HTTP/1.1\r\n\r\n',
  ),
  malformed(
    '9112 §2.2',
    'a space before the first header line',
    'GET /v1/models HTTP/1.1\r\n Host: localhost\r\n\r\n',
  ),
  malformed(
    '9112 §2.2',
    'a tab before the first header line',
    'GET /v1/models HTTP/1.1\r\n\tX: y\r\nHost: a\r\n\r\n',
  ),
  ...Array.from(noToken, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(2, '0')
    return malformed('9110 §5.6.2', `0x${code} in a header name`, `${getStart}X${character}A: 1\r\n\r\n`)
  }),
  malformed('9112 §5.1', 'a space behind a header name', `${postStart}X-A : 1\r\n${body}`),
  malformed('9112 §5.1', 'a tab behind a header name', `${postStart}X-A\t: 1\r\n${body}`),
  declined('9112 §2.2', 'a line feed alone behind a header', `${postStart}X-A: 1\nX-B: 2\r\n${body}`),
  ...Object.entries(badLines).map(([what, lines]) =>
    malformed('9112 §5', what, `${postStart}${lines}${body}`),
  ),
  declined('9110 §5.4', 'a value of 100 KB', `${postStart}X-A: ${'a'.repeat(100_000)}\r\n\r\n`),
  declined('9110 §5.4', 'a name of 100 KB', `${postStart}${'a'.repeat(100_000)}: 1\r\n\r\n`),
  declined('9110 §5.4', 'thirty thousand headers', `${postStart}${'a: b\r\n'.repeat(30_000)}\r\n`),

  ...[
    'localhost',
    'LOCALHOST:80',
    '127.0.0.1:9090',
    '[::1]:9090',
    'localhost:',
    'a_b.example',
    'a%20b',
    'x.',
  ].map((value) => passing('9110 §7.2', `Host: ${value}`, withHost(value), models)),
  passing('9112 §3.2', 'HTTP/1.0 without a Host', 'GET /v1/models HTTP/1.0\r\n\r\n', models),
  passing('9110 §5.5', 'an empty value', `${getStart}X-Empty:\r\nX-Next: 1\r\n\r\n`, {
    ...models,
    has: ['X-Empty: ', 'X-Next: 1'],
  }),
  passing('9112 §5', 'no space, and many, around a value', `${getStart}X-A:1\r\nX-B: \t 2 \t \r\n\r\n`, {
    ...models,
    has: ['X-A: 1', 'X-B: 2'],
  }),
  passing(
    '9110 §5.5',
    'bytes beyond ASCII, tabs and quotes in a value',
    `${getStart}X-A: a\tb "\\"" \xe9\xff\r\n\r\n`,
    {
      ...models,
      has: ['X-A: a\tb "\\"" \xe9\xff'],
    },
  ),
  passing(
    '9110 §5.6.2',
    'every character of a token in a name',
    `${getStart}!#$%&'*+-.^_\`|~09azAZ: 1\r\n\r\n`,
    {
      ...models,
      has: ["!#$%&'*+-.^_`|~09azAZ: 1"],
    },
  ),
  passing('9110 §5.3', 'one header many times', `${getStart}X-A: 1\r\nx-a: 2\r\nX-A: 1\r\n\r\n`, {
    ...models,
    has: ['X-A: 1', 'x-a: 2', 'X-A: 1'],
  }),
  passing('9110 §5.4', 'a head of 60 KB', `${getStart}Cookie: ${'a'.repeat(60_000)}\r\n\r\n`, {
    ...models,
    has: [`Cookie: ${'a'.repeat(60_000)}`],
  }),
  passing('9110 §5.1', 'names that JavaScript knows', `${getStart}__proto__: 1\r\nconstructor: 2\r\n\r\n`, {
    ...models,
    has: ['__proto__: 1', 'constructor: 2'],
  }),
  passing(
    '9110 §7.6.1',
    'a header that Connection names',
    `${getStart}Connection: x-a\r\nX-A: 1\r\nX-B: 2\r\n\r\n`,
    {
      ...models,
      has: ['X-B: 2'],
      lacks: ['x-a'],
    },
  ),
  passing(
    '9110 §7.6.1',
    'headers that two Connection lines name, with odd commas',
    `${getStart}X-A: 1\r\nConnection: ,, x-a ,\t,X-B\r\nConnection: keep-alive,X-C\r\nx-b: 2\r\nX-C: 3\r\nX-D: 4\r\n\r\n`,
    { ...models, has: ['X-D: 4'], lacks: ['x-a', 'x-b', 'x-c'] },
  ),
  passing(
    '9110 §7.6.1',
    'what belongs to one hop, whether it is named or not',
    `${getStart}Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nProxy-Authorization: Basic eA==\r\nX-D: 4\r\n\r\n`,
    {
      ...models,
      has: ['X-D: 4'],
      lacks: ['proxy-connection', 'te', 'proxy-authorization'],
    },
  ),
  passing(
    '9110 §7.6.1',
    'Connection names the framing, which is not touched',
    `${postStart}Connection: content-length\r\n${body}`,
    { method: 'POST', target: '/v1/chat/completions', body: '{}' },
  ),
  passing(
    '9110 §7.6.1',
    'Connection names the coding, which is not touched',
    `${postStart}Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    { method: 'POST', target: '/v1/chat/completions', body: '{}' },
  ),
  passing('9110 §7.6.1', 'Connection names Host', `${getStart}Connection: host\r\n\r\n`, models),
]
