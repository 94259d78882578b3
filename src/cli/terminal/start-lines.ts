import { isLoopbackBind } from '../../lib/request-source.ts'
import type { UpstreamProxy } from '../../gateway/upstream/upstream-proxy.ts'
import type { GatewayOptions } from '../../options/gateway-options.ts'
import { reachableOrigin } from './reachable-origin.ts'

/** What a gateway says when it is ready: where it is, what it does, who can reach it, and the first call. */
export function startLines(
  options: GatewayOptions,
  port: number,
  lendsKey: boolean,
  proxy: UpstreamProxy | null,
): string[] {
  const address = reachableOrigin(options.host, port)
  const lines = [
    `tokenweir gateway listening on ${address}, forwarding to ${options.upstream}`,
    `  ${options.maxConcurrent} calls at once, the rest wait in line`,
    `  try it:  curl ${address}/v1/models${lendsKey ? '' : ' -H "Authorization: Bearer $OPENAI_API_KEY"'}`,
    '  see it:  npx tokenweir calls --recent 10',
  ]
  if (proxy !== null)
    lines.push(`  the upstream is reached through the proxy ${proxy.origin} (${proxy.variable})`)
  if (options.rawLog)
    lines.push(`  payloads are kept in ${options.rawLogFile} (--raw-log), without credentials`)
  return [...lines, ...exposureLines('it', options, lendsKey)]
}

/** Who else can use a gateway, named as `it` or `the gateway`, and what they are lent. */
export function exposureLines(
  name: string,
  { host, trustLoopback }: Pick<GatewayOptions, 'host' | 'trustLoopback'>,
  lendsKey: boolean,
): readonly string[] {
  const lines: string[] = []
  if (!isLoopbackBind(host)) {
    lines.push(`  other machines can reach ${name} too; --host 127.0.0.1 keeps it to this one`)
  }
  if (lendsKey) {
    const whose = trustLoopback ? 'calls of your own user on this machine' : 'calls with the admin token'
    lines.push(`  UPSTREAM_API_KEY is lent to ${whose} that bring no key of their own`)
  }
  return lines
}
