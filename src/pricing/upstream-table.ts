import { BlockList, isIP } from 'node:net'
import type { UpstreamPrices } from '../api/costs.ts'

/** Why the price lists do not cover an upstream. */
export type UnlistedUpstream = 'local' | 'unknown_upstream'

/**
 * Hosts with listed prices: the prefix of keys, and the provider that the entry must name. A host may begin
 * with `*.`.
 */
export const knownUpstreams: Readonly<Record<string, UpstreamPrices>> = {
  'api.openai.com': { prefix: '', provider: 'openai' },
  'api.anthropic.com': { prefix: '', provider: 'anthropic' },
  'generativelanguage.googleapis.com': { prefix: 'gemini/', provider: 'gemini' },
  '*.openai.azure.com': { prefix: 'azure/', provider: 'azure' },
  'openrouter.ai': { prefix: 'openrouter/', provider: 'openrouter' },
  'api.deepseek.com': { prefix: 'deepseek/', provider: 'deepseek' },
  'api.groq.com': { prefix: 'groq/', provider: 'groq' },
  'api.mistral.ai': { prefix: 'mistral/', provider: 'mistral' },
  'api.x.ai': { prefix: 'xai/', provider: 'xai' },
  'api.together.xyz': { prefix: 'together_ai/', provider: 'together_ai' },
  'api.together.ai': { prefix: 'together_ai/', provider: 'together_ai' },
  'api.fireworks.ai': { prefix: 'fireworks_ai/', provider: 'fireworks_ai' },
  'api.cerebras.ai': { prefix: 'cerebras/', provider: 'cerebras' },
  'api.perplexity.ai': { prefix: 'perplexity/', provider: 'perplexity' },
  'api.deepinfra.com': { prefix: 'deepinfra/', provider: 'deepinfra' },
  'api.novita.ai': { prefix: 'novita/', provider: 'novita' },
  'api.moonshot.ai': { prefix: 'moonshot/', provider: 'moonshot' },
  'api.minimax.io': { prefix: 'minimax/', provider: 'minimax' },
  'api.z.ai': { prefix: 'zai/', provider: 'zai' },
  'dashscope-intl.aliyuncs.com': { prefix: 'dashscope/', provider: 'dashscope' },
  'api.voyageai.com': { prefix: 'voyage/', provider: 'voyage' },
  'api.cohere.com': { prefix: '', provider: 'cohere' },
  'api.cohere.ai': { prefix: '', provider: 'cohere' },
  'api.jina.ai': { prefix: '', provider: 'jina_ai' },
}

/**
 * Returns a function from a host (with its port if it has one) to the names of its prices in the lists. Hosts
 * in `added` come before the built-in ones, and may be local.
 */
export function upstreamTable(
  added: Readonly<Record<string, UpstreamPrices>>,
): (upstream: string | null) => UpstreamPrices | UnlistedUpstream {
  const all = [...Object.entries(knownUpstreams), ...Object.entries(added)]
  const hosts = new Map(all.map(([host, prices]) => [host.toLowerCase(), prices]))
  return (upstream) => {
    const address = upstream?.toLowerCase() ?? ''
    if (address === '') return 'unknown_upstream'
    const host = address.replace(/:\d+$/, '')
    const parents = host
      .split('.')
      .slice(1)
      .map((_, i, labels) => ['*', ...labels.slice(i)].join('.'))
    const name = [address, host, ...parents].find((candidate) => hosts.has(candidate))
    return hosts.get(name ?? '') ?? (isLocal(host) ? 'local' : 'unknown_upstream')
  }
}

function isLocal(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) !== 0) return localAddresses.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
  return !host.includes('.') || /\.(?:local|localhost|internal|lan|home\.arpa)\.?$/.test(host)
}

/**
 * Local networks: loopback, private use (RFC 1918, 4193), link-local (RFC 3927, 4291), shared (RFC 6598), and
 * "this host".
 */
const localNets: readonly string[] = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '0.0.0.0/32',
  '::1/128',
  '::/128',
  'fc00::/7',
  'fe80::/10',
]

const localAddresses = new BlockList()
for (const [net = '', prefix] of localNets.map((text) => text.split('/'))) {
  localAddresses.addSubnet(net, Number(prefix), net.includes(':') ? 'ipv6' : 'ipv4')
}
