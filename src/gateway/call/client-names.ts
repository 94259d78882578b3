/** The calling program, as its user agent names it. */
export interface Product {
  /** Empty without a user agent. */
  readonly name: string
  /** The name of a library or a runtime, not of the program that uses it. */
  readonly isLibrary: boolean
}

/** Agents with several names, or with names of several words: a pattern, and the one name to use. */
const agents: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^codex\b|^codex_/, 'codex'],
  [/^claude-(?:cli|code)$|^claude code$/, 'claude-code'],
  [/^qwen-?code$|^qwen code$/, 'qwen-code'],
  [/^opencode$|^opencode\.ai$/, 'opencode'],
  [/^cline$|^cline\.bot$/, 'cline'],
  [/^roo-?code$|^roo code$|^roo-?cline$|^roocode\.com$/, 'roo-code'],
  [/^kilo-?code$|^kilo code$|^kilocode\.ai$/, 'kilo-code'],
  [/^continue(?:-cli|\.dev)?$/, 'continue'],
  [/^aider$|^aider\.chat$/, 'aider'],
  [/^open ?webui$|^open-webui$|^openwebui\.com$/, 'open-webui'],
  [/^librechat$|^librechat\.ai$/, 'librechat'],
]

/** Agents that alone send a session in a header, by the header. */
const agentsOfHeaders: Readonly<Record<string, string>> = {
  'x-claude-code-session-id': 'claude-code',
  'x-opencode-session': 'opencode',
  'x-cagent-session-id': 'cagent',
  'x-openwebui-chat-id': 'open-webui',
}

/**
 * Names of libraries and runtimes: SDKs with their language (`OpenAI/Python`, of which a bundler may shorten
 * the first part), packages of the AI SDK, engines of browsers.
 */
const libraries =
  /\/(?:js|python|go|java|kotlin|ruby|php|csharp)$|^(?:ai|ai-sdk|runtime|langchain|langchainjs|litellm)(?:[/-].*)?$|^(?:python(?:-httpx|-requests|-urllib3?)?|aiohttp|httpx|asyncopenai|node|node-fetch|node\.js|undici|axios|got|bun|deno|okhttp|java-http-client|apache-httpclient|go-http-client|reqwest|hyper|guzzlehttp|openai|anthropic)$|^(?:mozilla|applewebkit|chrome|safari|gecko|firefox|electron|edg|version|mobile)$/i

/** The usual name of an agent that has several; any other name unchanged. */
export function agentNamed(name: string): string {
  const lower = name.toLowerCase()
  return agents.find(([names]) => names.test(lower))?.[1] ?? name
}

/** The agent of a site, else the host of its URL; empty for no URL. */
export function agentAt(site: string): string {
  const host = URL.parse(site)?.hostname.replace(/^www\./, '') ?? ''
  return agentNamed(host)
}

/** The agent that alone sends a session in this header. */
export function agentOfHeader(name: string | null): string | null {
  return name === null ? null : (agentsOfHeaders[name] ?? null)
}

/**
 * The first product of a user agent (RFC 9110 §10.1.5) that is no library, else the library: `opencode` of
 * `ai-sdk/openai/2.0 opencode/1.0`, `OpenAI/Python` of `OpenAI/Python 1.109.1`.
 */
export function productOf(userAgent: string): Product {
  const words = userAgent
    .replace(/\([^)]*\)/g, ' ')
    .trim()
    .split(/\s+/)
  const [first = ''] = words
  const named = nameOf(first)
  if (!libraries.test(named)) return { name: agentNamed(named), isLibrary: false }
  const program = words
    .slice(1)
    .filter((word) => /^[A-Za-z][^/]*\//.test(word))
    .map(nameOf)
    .find((name) => !libraries.test(name))
  if (program !== undefined) return { name: agentNamed(program), isLibrary: false }
  // The AI SDK names several of its packages, and not the same ones in each call.
  return { name: /^ai(?:-sdk|$)/.test(named) ? 'ai-sdk' : named, isLibrary: true }
}

/** A product without its version: `ai-sdk/openai` of `ai-sdk/openai/2.0`. */
function nameOf(product: string): string {
  return product.replace(/\/v?\d[^/]*$/, '')
}
