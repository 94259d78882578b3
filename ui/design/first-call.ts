import type { ProcessStatus } from '../../src/api/process-status.ts'

const anyAddress = new Set(['0.0.0.0', '::', ''])
const gatewayPort = 9090

/** Where client libraries find the gateway; `pageHost` is where the reader found the dashboard. */
export function baseUrlOf(status: Pick<ProcessStatus, 'host' | 'port'> | null, pageHost: string): string {
  const host = status === null || anyAddress.has(status.host) ? pageHost : status.host
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return `http://${name}:${status?.port ?? gatewayPort}/v1`
}

/** A call that can be pasted into a terminal. */
export function firstCall(baseUrl: string): string {
  return [
    `curl ${baseUrl}/chat/completions \\`,
    `  -H "Authorization: Bearer $OPENAI_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join('\n')
}
