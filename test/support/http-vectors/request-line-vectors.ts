import {
  type HttpVector,
  declined,
  answered,
  chatPath,
  getStart,
  malformed,
  passing,
  postStart,
} from './http-vector.ts'

const host = 'Host: localhost\r\n\r\n'
const models = { method: 'GET', target: '/v1/models' }

function line(text: string): string {
  return `${text}\r\n${host}`
}

function target(text: string): string {
  return line(`GET ${text} HTTP/1.1`)
}

const badLines: Readonly<Record<string, string>> = {
  'no request line': '\r\n\r\n\r\nhello\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a status line': 'HTTP/1.1 200 OK\r\nHost: localhost\r\n\r\n',
  'a method of RTSP in RTSP': line('DESCRIBE /v1/models RTSP/1.0'),
  'carriage returns alone': `POST ${chatPath} HTTP/1.1\rHost: localhost\r\r`,
  'a carriage return in the line': line('GET /v1/models\r HTTP/1.1'),
  'NUL in front of it': `\0${getStart}\r\n`,
  'a byte order mark in front of it': `\xef\xbb\xbf${getStart}\r\n`,
  'a space in front of it': ` ${getStart}\r\n`,
  'a tab in front of it': `\t${getStart}\r\n`,
  'a word behind the version': line('GET /v1/models HTTP/1.1 please'),
  'a tab instead of the first space': line('GET\t/v1/models HTTP/1.1'),
  'a tab instead of the second space': line('GET /v1/models\tHTTP/1.1'),
  'a vertical tab instead of a space': line('GET /v1/models\vHTTP/1.1'),
  'a form feed instead of a space': line('GET\f/v1/models HTTP/1.1'),
}

const badVersions = [
  '',
  'HTTP/0.9',
  'HTTP/1.10',
  'HTTP/2.0',
  'HTTP/3.0',
  'HTTP/9.9',
  'HTTP/01.1',
  'HTTP/1.01',
  'HTTP/1',
  'HTTP/1.',
  'HTTP/.1',
  'HTTP/1,1',
  'HTTP/-1.1',
  'HTTP/1 .1',
  'HTTP /1.1',
  'http/1.1',
  'Http/1.1',
  'HTTP1.1',
  'HTTPS/1.1',
  'ICE/1.0',
  'SIP/2.0',
  'HTTP/\xb9.1',
]

/** Tokens, so that they may be methods, but none that Node's parser knows. */
const declinedMethods = ['get', 'Get', 'PO', 'GETS', 'A'.repeat(70_000), 'DESCRIBE', 'ANNOUNCE', 'PRI']

const badMethods = ['', 'GE T', 'G\0T', 'G\xc9T', 'GET:', 'GET,POST', 'GET(1)', 'GET/1', '"GET"', '{}']

const badTargets: Readonly<Record<string, string>> = {
  'none at all': '',
  'without a slash': 'v1/models',
  'a query alone': '?limit=1',
  'a fragment alone': '#here',
  'a fragment': '/v1/models#here',
  'a fragment behind a query': '/v1/models?a=1#here',
  'two stars': '**',
  'a star in GET': '*',
  'a star and a path': '*/v1/models',
  'an authority in GET': 'localhost:80',
  'a backslash first': '\\v1\\models',
  'an http address without a host': 'http:///v1/models',
  'an http address with one slash': 'http:/v1/models',
  'the scheme alone': 'http://',
  'another scheme': 'ftp://localhost/v1/models',
  'a file': 'file:///etc/passwd',
  'a script': 'javascript:alert(1)',
  'a percent sign alone': '/v1/models/%',
  'half an escape': '/v1/models/%2',
  'an escape that is none': '/v1/models/%zz',
  'an escape of IIS': '/v1/models/%u002e',
  'a NUL': '/v1/models/\0',
  'a control character': '/v1/models/\x01',
  'a vertical tab': '/v1/models/\v',
  DEL: '/v1/models/\x7f',
  'DEL in the query': '/v1/models?a=\x7f',
  'letters beyond ASCII': '/v1/models/\xe9',
  'letters beyond ASCII in the query': '/v1/models?a=\xe9',
  'a space': '/v1/mo dels',
  'a space in the query': '/v1/models?a= b',
}

/** A target is a path below our base alone, whatever another server makes of it. */
const declinedTargets: Readonly<Record<string, string>> = {
  'a backslash in it': '/v1/models\\x',
  'an escaped backslash': '/v1/models/%5C..%5Cadmin',
  'a dot segment': '/v1/./models',
  'a dot segment upwards': '/v1/../admin',
  'a dot segment at the end': '/v1/models/..',
  'an escaped dot segment': '/v1/%2e%2e/admin',
  'a dot segment of which half is escaped': '/v1/.%2E/admin',
  'a dot segment behind an escaped slash': '/v1/models%2F..%2F..%2Fadmin',
  'a dot segment in an absolute form': 'http://localhost/v1/../admin',
  'an escaped NUL': '/v1/models/%00',
  '100 KB': `/v1/models?${'a'.repeat(100_000)}`,
}

/** Vectors of request line and target (RFC 9112 §2, §3; RFC 9110 §4, §9). */
export const requestLineVectors: readonly HttpVector[] = [
  ...Object.entries(badLines).map(([what, bytes]) => malformed('9112 §3', `request line: ${what}`, bytes)),
  ...badVersions.map((version) =>
    malformed(
      '9112 §2.3',
      `version: ${version === '' ? 'none' : version}`,
      line(`GET /v1/models ${version}`),
    ),
  ),
  malformed('9112 §2.3', 'version: not even a space', line('GET /v1/models')),
  ...badMethods.map((method) =>
    malformed('9110 §9.1', `method: ${method.slice(0, 10)}`, line(`${method} /v1/models HTTP/1.1`)),
  ),
  ...declinedMethods.map((method) =>
    declined('9110 §9.1', `method: ${method.slice(0, 10)}`, line(`${method} /v1/models HTTP/1.1`)),
  ),
  ...Object.entries(declinedTargets).map(([what, text]) =>
    declined('9112 §3.2', `target: ${what}`, target(text)),
  ),
  ...Object.entries(badTargets).map(([what, text]) =>
    malformed('9112 §3.2', `target: ${what}`, target(text)),
  ),

  declined('9112 §2.2', 'line feeds alone', `POST ${chatPath} HTTP/1.1\nHost: localhost\n\n`),
  declined('9112 §2.2', 'a line feed alone behind the line', `GET /v1/models HTTP/1.1\n${host}`),
  declined('9112 §3', 'a space behind the version', line('GET /v1/models HTTP/1.1 ')),
  declined('9110 §2.5', 'HTTP/1.2', line('GET /v1/models HTTP/1.2')),
  answered('9110 §9.3.8', 'TRACE', line('TRACE /v1/models HTTP/1.1'), 405),
  declined('9110 §9.3.6', 'CONNECT', line('CONNECT localhost:443 HTTP/1.1'), 405),
  declined('9110 §9.3.6', 'CONNECT without a port', line('CONNECT localhost HTTP/1.1'), 405),
  declined('9110 §9.3.6', 'CONNECT to a path', line('CONNECT /v1/models HTTP/1.1'), 405),
  answered('9112 §3.2.4', 'OPTIONS *', line('OPTIONS * HTTP/1.1'), 204),
  answered('9112 §3.2.1', 'two slashes first', target('//evil.example/v1/models'), 404),

  passing('9112 §2.2', 'an empty line in front', `\r\n${getStart}\r\n`, models),
  passing('9112 §2.2', 'empty lines in front', `\r\n\r\n${getStart}\r\n`, models),
  passing(
    '9112 §3',
    'two spaces before the version, as a server may take them',
    line('GET /v1/models  HTTP/1.1'),
    models,
  ),
  passing(
    '9112 §2.3',
    "RTSP/1.0, which Node's parser takes for HTTP/1.0",
    line('GET /v1/models RTSP/1.0'),
    models,
  ),
  passing('9112 §3.2.2', 'absolute form', target('http://localhost/v1/models'), models),
  passing('9112 §3.2.2', 'absolute form against Host', target('http://elsewhere.example/v1/models'), models),
  passing('9112 §3.2.2', 'absolute form in capitals', target('HTTP://LOCALHOST:80/v1/models'), models),
  passing(
    '9112 §3.2',
    'every character that a path may hold',
    target("/v1/models/a-._~!$&'()*+,;=:@%20%2F"),
    {
      method: 'GET',
      target: "/v1/models/a-._~!$&'()*+,;=:@%20%2F",
    },
  ),
  passing('9112 §3.2', 'empty segments', target('/v1/models//a///b/'), {
    method: 'GET',
    target: '/v1/models//a///b/',
  }),
  passing('9112 §3.2', 'dots that are no segment', target('/v1/models/...'), {
    method: 'GET',
    target: '/v1/models/...',
  }),
  passing('9110 §4.2.3', 'escapes in small letters', target('/v1/models/org%2fname'), {
    method: 'GET',
    target: '/v1/models/org%2fname',
  }),
  passing('9112 §3.2', 'an empty query', target('/v1/models?'), { method: 'GET', target: '/v1/models?' }),
  passing('9112 §3.2', 'question marks in the query', target('/v1/models?a=?&b=/../x'), {
    method: 'GET',
    target: '/v1/models?a=?&b=/../x',
  }),
  passing('9112 §3', 'a target of 16 KB', target(`/v1/models?${'a'.repeat(16_000)}`), {
    method: 'GET',
    target: `/v1/models?${'a'.repeat(16_000)}`,
  }),
  ...['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'PURGE', 'M-SEARCH'].map((method) =>
    passing('9110 §9.1', `method: ${method}`, line(`${method} /v1/files/a HTTP/1.1`), {
      method,
      target: '/v1/files/a',
    }),
  ),
  passing(
    '9110 §9.3.4',
    'PUT with a body',
    `PUT /v1/files/a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`,
    {
      method: 'PUT',
      target: '/v1/files/a',
      body: 'abc',
    },
  ),
  passing('9112 §6', 'POST without a body', `${postStart}\r\n`, {
    method: 'POST',
    target: chatPath,
    body: '',
  }),
]
