/** The messages that the benchmarks exchange, built once: sizes like those of everyday chat calls. */

const promptBytes = 1500
const answerBytes = 1000
const largeBytes = 2000

/** How a requested answer differs from an everyday one. */
export interface AskedFor {
  /** Prompt and answer of about 2 kB. */
  readonly large?: boolean
  /** A stream that ends after so many events. */
  readonly events?: number
  /** In place of a usual header where the name is the same. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A chat request whose body has about 1.5 kB; without `stream_options`, as most clients send it. */
export function requestBytes(
  port: number,
  stream: boolean,
  { large, events, headers = {} }: AskedFor = {},
): Buffer {
  const asked = {
    ...(large === true ? { large } : {}),
    ...(stream ? { stream: true } : {}),
    ...(events === undefined ? {} : { events }),
  }
  const rest = { model: 'sim-small', ...asked, temperature: 0.2 }
  const content = filler((large === true ? largeBytes : promptBytes) - 120)
  const messages = [
    { role: 'system', content: 'Answer briefly.' },
    { role: 'user', content },
  ]
  // The stream flag is last, where the upstream searches first.
  const body = JSON.stringify({ messages, ...rest })
  const fields = {
    Host: `127.0.0.1:${port}`,
    Accept: 'application/json',
    'Content-Type': 'application/json',
    'User-Agent': 'OpenAI/JS 7.0.0',
    Authorization: 'Bearer sk-simulated-0000000000000000',
    ...headers,
    'Content-Length': Buffer.byteLength(body),
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  const head = ['POST /v1/chat/completions HTTP/1.1', ...lines]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** A chat completion of about 1 kB, or 2 kB. */
export function jsonAnswer(large = false): Buffer {
  const usage = { prompt_tokens: 330, completion_tokens: 130, total_tokens: 460 }
  const message = { role: 'assistant', content: filler((large ? largeBytes : answerBytes) - 330) }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  const common = {
    id: 'chatcmpl-simulated',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'sim-small',
  }
  const body = JSON.stringify({ ...common, choices, usage, system_fingerprint: 'fp_simulated' })
  const head = [
    'HTTP/1.1 200 OK',
    'Date: Fri, 21 Nov 2025 06:00:00 GMT',
    'Content-Type: application/json',
    'X-Request-Id: req-simulated',
    'OpenAI-Processing-Ms: 12',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}

export function streamHead(): Buffer {
  const head = [
    'HTTP/1.1 200 OK',
    'Date: Fri, 21 Nov 2025 06:00:00 GMT',
    'Content-Type: text/event-stream',
    'Cache-Control: no-cache',
    'X-Request-Id: req-simulated',
    'Transfer-Encoding: chunked',
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`)
}

const stampDigits = 16
const stampMark = 'at '
const stampPattern = new RegExp(`"${stampMark}(\\d{${stampDigits}})"`, 'g')

/** One content chunk of about 220 bytes, in its own chunk of the transfer coding. Its text is the time of its writing. */
export function streamEvent(): Buffer {
  const content = stampMark + '0'.repeat(stampDigits)
  const choices = [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }]
  const common = {
    id: 'chatcmpl-simulated',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'sim-small',
    system_fingerprint: 'fp_sim',
  }
  const data = `data: ${JSON.stringify({ ...common, choices })}\n\n`
  return Buffer.from(`${data.length.toString(16)}\r\n${data}\r\n`)
}

/** A copy of an event, with the time of its writing. */
export function stamped(event: Buffer): Buffer {
  const copy = Buffer.from(event)
  const at = copy.indexOf(stampMark) + stampMark.length
  copy.write(String(monotonicUs()).padStart(stampDigits, '0'), at, 'latin1')
  return copy
}

/** How long ago the events of a text were written, in milliseconds. */
export function sinceWrittenMs(text: string): readonly number[] {
  const nowUs = monotonicUs()
  return Array.from(text.matchAll(stampPattern), ([, stamp]) => (nowUs - Number(stamp)) / 1000)
}

/** A clock that all processes of a machine share, in microseconds. */
function monotonicUs(): number {
  const [seconds, ns] = process.hrtime()
  return seconds * 1e6 + Math.floor(ns / 1000)
}

/** The end of a stream, in two chunks of the transfer coding. */
export function streamEnd(): Buffer {
  return Buffer.from('e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n')
}

function filler(length: number): string {
  return 'A weir holds a stream back and measures what passes over it. '.repeat(100).slice(0, length)
}
