/** Ends of inference paths, which reveal calls with a wrong base URL. */
const openAiPath = /\/(?:chat\/completions|completions|responses|messages|embeddings|rerank|models)(?:\/|$)/
const ollamaPath = /^\/api\/(?:chat|generate|embed|embeddings|tags|show|ps|version|pull)$/
/** Paths of client libraries whose base URL is a bare host: Groq's and Azure's. */
const hostPath = /^(\/openai(?:\/v1)?)\//
const geminiPath = /^\/v1(?:beta|alpha)\//

/**
 * The advice for a client whose path is not forwarded because of its base URL; null for a path of no known
 * API. `host` is the gateway's host as the client named it.
 */
export function baseUrlAdvice(path: string, host: string | null): string | null {
  const use = `use http://${host ?? '<this gateway>'}/v1`
  if (ollamaPath.test(path)) {
    return `${path} is of Ollama's own API, which is not forwarded: ${use} as the base URL of an OpenAI client, which Ollama answers too.`
  }
  if (geminiPath.test(path) && !path.includes('/openai/')) {
    return `${path} is of Gemini's own API, which is not forwarded: ${use} as the base URL of an OpenAI client, and --upstream https://generativelanguage.googleapis.com/v1beta/openai.`
  }
  const [, prefix] = hostPath.exec(path) ?? []
  if (prefix !== undefined) {
    const below = `http://${host ?? '<this gateway>'}/<name>`
    return `${path} is not forwarded: this client puts ${prefix} before its paths, so its base URL is a host. Add an upstream with \`tokenweir upstreams add <name> --url https://<its host>\` and use ${below}; or start the gateway with an --upstream that ends in ${prefix}.`
  }
  return openAiPath.test(path)
    ? `${path} is not forwarded, as it is not under /v1/: ${use} as the base URL.`
    : null
}
