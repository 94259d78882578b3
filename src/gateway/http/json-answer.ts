import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** Answers one of the gateway's own routes with JSON. A value of bytes is JSON already. */
export function sendJson(
  res: ServerResponse,
  content: object | Uint8Array,
  status = 200,
  headers: OutgoingHttpHeaders = {},
): void {
  const body = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content))
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  })
  res.end(body)
}
