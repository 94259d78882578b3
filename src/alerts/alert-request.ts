import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import type { AlertMessage } from '../api/alerts.ts'
import type { AlertFormat } from '../options/dashboard-options.ts'

/** Where messages go. The address may be a secret as a whole; only its host is ever shown. */
export interface AlertReceiver {
  readonly url: string
  readonly format: AlertFormat
  /** Signs what is sent; null sends it unsigned. */
  readonly secret: string | null
}

/** A message as it goes over the wire. */
export interface AlertRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const kindWords = { begins: '', goes_on: 'Still: ', ended: 'Ended: ', test: '' } as const

/** The subject and the words in one line. */
function lineOf({ kind, title, subject, text }: AlertMessage): readonly [head: string, text: string] {
  return [`${kindWords[kind]}${title}${subject === null ? '' : ` (${subject})`}`, text]
}

const bodies: Readonly<
  Record<AlertFormat, (message: AlertMessage) => readonly [type: string, body: string]>
> = {
  json: ({ id, at, kind, rule, subject, title, text, since }) => {
    const data = { id, rule, subject, title, text, since, host: hostname() }
    return ['application/json', JSON.stringify({ type: `alert.${kind}`, timestamp: at, data })]
  },
  // https://docs.slack.dev/messaging/formatting-message-text: these three make links and mentions.
  slack: (message) => {
    const escaped = (text: string): string =>
      text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    const [head, text] = lineOf(message)
    const words = { text: escaped(`${head}\n${text}\n${hostname()}`), mrkdwn: false, unfurl_links: false }
    return ['application/json', JSON.stringify(words)]
  },
  discord: (message) => {
    const plain = lineOf(message).join('\n')
    const content = `${plain}\n${hostname()}`
      .replaceAll(/[\\*_~`|>#[\]():@<-]/g, String.raw`\$&`)
      .slice(0, 1900)
    // Flag 4: no previews of links. Nobody is called, whatever a name says.
    return ['application/json', JSON.stringify({ content, flags: 4, allowed_mentions: { parse: [] } })]
  },
  ntfy: (message) => ['text/plain; charset=utf-8', `${lineOf(message).join('\n')}\n${hostname()}`],
}

/**
 * What is sent for a message. With a secret it is signed as Standard Webhooks 1.0 has it: HMAC-SHA256 of
 * `id.timestamp.body`, so that a receiver can refuse what is old, or was sent before.
 */
export function alertRequest(receiver: AlertReceiver, message: AlertMessage, nowMs: number): AlertRequest {
  const { format, secret } = receiver
  const url = new URL(receiver.url)
  const [type, body] = bodies[format](message)
  const headers: Record<string, string> = {
    'Content-Type': type,
    'User-Agent': 'tokenweir',
    'webhook-id': message.id,
  }
  if (format === 'ntfy') {
    const isBad = message.kind === 'begins' || message.kind === 'goes_on'
    Object.assign(headers, { Title: 'tokenweir', Tags: isBad ? 'warning' : 'white_check_mark' })
  }
  if (url.username !== '') {
    const pair = [url.username, url.password].map(decodeURIComponent).join(':')
    headers['Authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  const timestamp = String(Math.floor(nowMs / 1000))
  headers['webhook-timestamp'] = timestamp
  if (secret !== null) {
    const signed = `${message.id}.${timestamp}.${body}`
    const code = createHmac('sha256', keyOf(secret)).update(signed).digest('base64')
    headers['webhook-signature'] = `v1,${code}`
  }
  return { url: url.href, headers, body }
}

/** `whsec_` stands before base64; any other text is its own bytes. */
function keyOf(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z\d+/]+=*)$/.exec(secret) ?? []
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64')
}
