import { type HttpVector, declined, chatPath, malformed, passing, postStart } from './http-vector.ts'

const post = { method: 'POST', target: chatPath }
const chunked = `${postStart}Transfer-Encoding: chunked\r\n\r\n`
const end = '0\r\n\r\n'

const badLengths: Readonly<Record<string, string>> = {
  empty: '',
  'blank space': '  \t',
  'a word': 'two',
  negative: '-2',
  'with a sign': '+2',
  hexadecimal: '0x2',
  'with a fraction': '2.0',
  'with an exponent': '2e0',
  'with an underscore': '0_2',
  'with a letter behind': '2a',
  'with a semicolon': '2;',
  quoted: '"2"',
  'with a space in it': '1 2',
  'a list of two numbers': '2, 3',
  'a list with nothing': '2,',
  'Arabic digits': '\xd9\xa2',
  'just beyond 64 bits': '18446744073709551617',
  'beyond all bounds': '9'.repeat(60),
}

const badCodings: Readonly<Record<string, string>> = {
  empty: '',
  unknown: 'xchunked',
  'unknown behind': 'chunkedx',
  'of no sense': 'cow',
  identity: 'identity',
  'chunked, then gzip': 'chunked, gzip',
  'chunked, then identity': 'chunked, identity',
  'identity, then chunked': 'identity, chunked',
  'chunked twice': 'chunked, chunked',
  'with a parameter': 'chunked;q=1',
  'with an empty parameter': 'chunked;',
  quoted: '"chunked"',
  'with a vertical tab': '\vchunked',
  'with a NUL': 'chunked\0',
  'with a letter beyond ASCII': 'chun\xe7ked',
  'in two words': 'chun ked',
}

const badChunks: Readonly<Record<string, string>> = {
  'a size that is none': `xyz\r\nabc\r\n${end}`,
  'an empty size': `\r\nabc\r\n${end}`,
  'a negative size': `-3\r\nabc\r\n${end}`,
  'a size with a sign': `+3\r\nabc\r\n${end}`,
  'a size with 0x': `0x3\r\nabc\r\n${end}`,
  'a size with a space in front': ` 3\r\nabc\r\n${end}`,
  'a size with a tab behind': `3\t\r\nabc\r\n${end}`,
  'a size with an underscore': `0_3\r\nabc\r\n${end}`,
  'a size with a letter behind': `3g\r\nabc\r\n${end}`,
  'a size with a NUL': `3\0\r\nabc\r\n${end}`,
  'a size of 17 digits': `fffffffffffffffff\r\nabc\r\n${end}`,
  'a size just beyond 64 bits': `10000000000000003\r\nabc\r\n${end}`,
  'more bytes than the size says': `2\r\nabc\r\n${end}`,
  'fewer bytes than the size says': `5\r\nabc\r\n${end}`,
  'no line end behind the bytes': `3\r\nabc${end}`,
  'a line feed alone behind the size': `3\nabc\r\n${end}`,
  'a line feed alone behind the bytes': `3\r\nabc\n${end}`,
  'a carriage return alone behind the size': `3\rabc\r\n${end}`,
  'a carriage return alone behind the bytes': `3\r\nabc\r${end}`,
  'an extension with a line feed': `3;a\nb\r\nabc\r\n${end}`,
  'an extension with a carriage return': `3;a\rb\r\nabc\r\n${end}`,
  'an extension with a NUL': `3;a\0b\r\nabc\r\n${end}`,
  'an extension whose quotes stay open': `3;a="b\r\nabc\r\n${end}`,
  'a line feed alone behind the last chunk': `3\r\nabc\r\n0\n\r\n`,
  'a trailer without a colon': `3\r\nabc\r\n0\r\nX-A\r\n\r\n`,
  'a trailer with a space behind its name': `3\r\nabc\r\n0\r\nX-A : 1\r\n\r\n`,
  'a trailer with an empty name': `3\r\nabc\r\n0\r\n: 1\r\n\r\n`,
  'a folded trailer': `3\r\nabc\r\n0\r\nX-A: 1\r\n 2\r\n\r\n`,
  'a NUL in a trailer': `3\r\nabc\r\n0\r\nX-A: \0\r\n\r\n`,
}

function withLines(lines: string, rest = ''): string {
  return `${postStart}${lines}\r\n${rest}`
}

const length = 'Content-Length: 2\r\n'
const coding = 'Transfer-Encoding: chunked\r\n'

/** Vectors of the message body's framing (RFC 9112 §6, §7). */
export const framingVectors: readonly HttpVector[] = [
  ...Object.entries(badLengths).map(([what, value]) =>
    malformed('9112 §6.2', `Content-Length: ${what}`, withLines(`Content-Length: ${value}\r\n`, '{}')),
  ),
  declined('9112 §6.3', 'Content-Length twice, alike', withLines(length + length, '{}')),
  malformed('9112 §6.3', 'Content-Length twice', withLines(`${length}Content-Length: 3\r\n`, '{}')),
  malformed(
    '9112 §6.3',
    'Content-Length twice, spelled differently',
    withLines(`${length}content-length: 0\r\n`, '{}'),
  ),
  malformed('9112 §5.1', 'a space behind the name Content-Length', withLines('Content-Length : 2\r\n', '{}')),
  malformed('9112 §5.2', 'a Content-Length that is folded', withLines('Content-Length:\r\n 2\r\n', '{}')),
  ...Object.entries(badCodings).map(([what, value]) =>
    malformed('9112 §6.1', `Transfer-Encoding: ${what}`, withLines(`Transfer-Encoding: ${value}\r\n`, end)),
  ),
  malformed('9112 §6.3', 'length, then coding', withLines(length + coding, end)),
  malformed('9112 §6.3', 'coding, then length', withLines(coding + length, end)),
  malformed('9112 §6.3', 'a length of 0 beside the coding', withLines(`Content-Length: 0\r\n${coding}`, end)),
  malformed(
    '9112 §6.3',
    'an empty coding beside a length',
    withLines(`Transfer-Encoding:\r\n${length}`, '{}'),
  ),
  malformed(
    '9112 §6.3',
    'identity beside a length',
    withLines(`Transfer-Encoding: identity\r\n${length}`, '{}'),
  ),
  declined(
    '9112 §6.1',
    'gzip and chunked in two lines',
    withLines(`Transfer-Encoding: gzip\r\n${coding}`, end),
  ),
  malformed('9112 §6.1', 'chunked in two lines', withLines(coding + coding, end)),
  malformed(
    '9112 §6.1',
    'chunked, and an empty second line',
    withLines(`${coding}Transfer-Encoding:\r\n`, end),
  ),
  malformed(
    '9112 §5.1',
    'a space behind the name of the coding',
    withLines('Transfer-Encoding : chunked\r\n', end),
  ),
  malformed(
    '9112 §5.1',
    'a tab behind the name of the coding',
    withLines('Transfer-Encoding\t: chunked\r\n', end),
  ),
  malformed('9112 §5.2', 'a coding that is folded', withLines('Transfer-Encoding:\r\n chunked\r\n', end)),
  malformed('9112 §2.2', 'a coding behind a line feed alone', withLines(`X-A: 1\n${coding}`, end)),
  malformed(
    '9112 §6.1',
    'a coding in HTTP/1.0',
    `POST ${chatPath} HTTP/1.0\r\nHost: a\r\n${coding}\r\n2\r\n{}\r\n${end}`,
  ),
  malformed(
    '9112 §6.1',
    'coding and length in HTTP/1.0',
    `POST ${chatPath} HTTP/1.0\r\n${length}${coding}\r\n${end}`,
  ),
  ...Object.entries(badChunks).map(([what, bytes]) =>
    malformed('9112 §7.1', `chunk: ${what}`, chunked + bytes),
  ),

  declined(
    '9112 §6.3',
    'Content-Length: a list of one number twice',
    withLines('Content-Length: 2, 2\r\n', '{}'),
  ),
  declined(
    '9112 §6.1',
    'Transfer-Encoding: gzip, then chunked',
    withLines('Transfer-Encoding: gzip, chunked\r\n', end),
  ),
  malformed('9112 §6.1', 'Transfer-Encoding: gzip alone', withLines('Transfer-Encoding: gzip\r\n', end)),
  declined(
    '9112 §7.1.1',
    'chunk: an extension of 100 KB',
    `${chunked}3;${'a'.repeat(100_000)}\r\nabc\r\n${end}`,
  ),
  declined(
    '9110 §6.5',
    'trailers of 100 KB',
    `${chunked}3\r\nabc\r\n0\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
  ),
  declined('9110 §6.5', 'a length as trailer', `${chunked}3\r\nabc\r\n0\r\nContent-Length: 99\r\n\r\n`),
  passing('9112 §6.2', 'a length with zeros in front', withLines('Content-Length: 0002\r\n', '{}'), {
    ...post,
    body: '{}',
    has: ['content-length: 2'],
  }),
  passing('9112 §6.2', 'a length of 0', withLines('Content-Length: 0\r\n'), { ...post, body: '' }),
  passing('9112 §5', 'white space around a length', withLines('Content-Length: \t 2 \t\r\n', '{}'), {
    ...post,
    body: '{}',
  }),
  passing(
    '9112 §7',
    'the coding in capitals',
    withLines('Transfer-Encoding: CHUNKED\r\n', `2\r\n{}\r\n${end}`),
    {
      ...post,
      body: '{}',
    },
  ),
  passing('9112 §7.1', 'nothing, chunked', chunked + end, { ...post, body: '' }),
  passing(
    '9112 §7.1',
    'sizes in capitals, and with zeros in front',
    `${chunked}00A\r\n0123456789\r\n0a\r\n0123456789\r\n000\r\n\r\n`,
    {
      ...post,
      body: '01234567890123456789',
    },
  ),
  passing('9112 §7.1.1', 'extensions', `${chunked}2;a;b=c;d="e f;\\"g"\r\n{}\r\n0;z\r\n\r\n`, {
    ...post,
    body: '{}',
  }),
  passing(
    '9112 §7.1.1',
    'an extension without a name, ignored as all are',
    `${chunked}2;=x\r\n{}\r\n${end}`,
    {
      ...post,
      body: '{}',
    },
  ),
  passing('9112 §7.1', 'bytes that look like the end', `${chunked}7\r\n\r\n0\r\n\r\n\r\n${end}`, {
    ...post,
    body: '\r\n0\r\n\r\n',
  }),
  passing(
    '9110 §6.5',
    'trailers, of which none becomes a header',
    `${chunked}2\r\n{}\r\n0\r\nX-A: 1\r\nAuthorization: Bearer x\r\nHost: evil\r\n\r\n`,
    { ...post, body: '{}', lacks: ['x-a', 'authorization'] },
  ),
  passing(
    '9110 §9.3.1',
    'a GET with a body',
    `GET /v1/models HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`,
    {
      method: 'GET',
      target: '/v1/models',
      body: 'abc',
    },
  ),
  passing(
    '9112 §6',
    'a header that only looks like a coding',
    withLines(`Transfer_Encoding: chunked\r\n${length}`, '{}'),
    {
      ...post,
      body: '{}',
      has: ['Transfer_Encoding: chunked'],
    },
  ),
  passing('9112 §6.3', 'HTTP/1.0 with a length', `POST ${chatPath} HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}`, {
    ...post,
    body: '{}',
  }),
]
