import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { unescape } from 'node:querystring'
import type { AlertMessage } from '../api/alerts.ts'
import type { AlertFormat } from '../options/dashboard-options.ts'
import type { AlertWebhook } from './alert-settings.ts'

/** The receiver of messages. Only the host of the address is ever shown. */
export interface AlertReceiver extends AlertWebhook {
  /** The key that signs each message; null sends it unsigned. */
  readonly secret: string | null
  /** The flag or variable that sets the address; null where the settings do. */
  readonly fixedBy: string | null
}

const kindPrefix = { begins: '', goes_on: 'Still: ', ended: 'Ended: ', test: '' } as const

function bodyOf(format: AlertFormat, message: AlertMessage): string {
  const { id, at, kind, rule, subject, title, text, since } = message
  const host = hostname()
  const words = `${kindPrefix[kind]}${title}${subject === null ? '' : ` (${subject})`}\n${text}\n${host}`
  if (format === 'json') {
    const data = { id, rule, subject, title, text, since, host }
    return JSON.stringify({ type: `alert.${kind}`, timestamp: at, data })
  }
  if (format === 'slack') {
    // https://docs.slack.dev/messaging/formatting-message-text: these three make links and mentions.
    const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    return JSON.stringify({ text: escaped, mrkdwn: false, unfurl_links: false })
  }
  if (format === 'discord') {
    const content = words.replaceAll(/[\\*_~`|>#[\]():@<-]/g, String.raw`\$&`).slice(0, 1900)
    // Flag 4: no previews of links. A name in the text notifies no one.
    return JSON.stringify({ content, flags: 4, allowed_mentions: { parse: [] } })
  }
  return words
}

/**
 * The request for a message. With a secret, the request is signed after Standard Webhooks 1.0: HMAC-SHA256 of
 * `id.timestamp.body`, so that a receiver can refuse old and repeated messages.
 */
export function alertRequest(
  receiver: AlertReceiver,
  message: AlertMessage,
  nowMs: number,
): { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly body: string } {
  const { format, secret } = receiver
  const url = new URL(receiver.url)
  const body = bodyOf(format, message)
  const timestamp = String(Math.floor(nowMs / 1000))
  const headers: Record<string, string> = {
    'Content-Type': format === 'ntfy' ? 'text/plain; charset=utf-8' : 'application/json',
    'User-Agent': 'tokenweir',
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
  }
  if (format === 'ntfy') {
    const isBad = message.kind === 'begins' || message.kind === 'goes_on'
    Object.assign(headers, { Title: 'tokenweir', Tags: isBad ? 'warning' : 'white_check_mark' })
  }
  if (url.username !== '' || url.password !== '') {
    const pair = [url.username, url.password].map((text) => unescape(text)).join(':')
    headers['Authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  if (secret !== null) {
    const signed = `${message.id}.${timestamp}.${body}`
    const code = createHmac('sha256', keyOf(secret)).update(signed).digest('base64')
    headers['webhook-signature'] = `v1,${code}`
  }
  return { url, headers, body }
}

/** The bytes of a secret: base64 after `whsec_`, otherwise the text itself. */
function keyOf(secret: string): Buffer {
  const [, base64] = /^whsec_([A-Za-z\d+/]+=*)$/.exec(secret) ?? []
  return base64 === undefined ? Buffer.from(secret) : Buffer.from(base64, 'base64')
}
