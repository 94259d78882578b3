/** The clients for a first call, in the order of the choice. */
export const firstCallKinds = {
  curl: 'curl',
  python: 'Python',
  javascript: 'JavaScript',
  ollama: 'Ollama',
  claude: 'Claude Code',
  codex: 'Codex',
} as const

export type FirstCallKind = keyof typeof firstCallKinds

/** The command to paste, and a note on its needs. */
export interface FirstCall {
  readonly text: string
  readonly note: string | null
}

/** The model at OpenAI, and at upstreams that list no models. */
const usualModel = 'gpt-5-mini'
/** Models whose names show that they do not chat. */
const otherKinds = /embed|rerank|whisper|tts|audio|image|dall-e|moderation|transcribe|realtime|sora/i

/** Returns a model for the first call from the upstream's list. A chosen name needs no quotes in a shell. */
export function firstModel(models: readonly string[]): string {
  const plain = models.filter((name) => /^[\w.:/@+-]{1,100}$/.test(name))
  if (plain.includes(usualModel)) return usualModel
  return plain.find((name) => !otherKinds.test(name)) ?? plain[0] ?? usualModel
}

const notes: Partial<Record<FirstCallKind, string>> = {
  ollama: upstreamNote('localhost:11434 (http)'),
  claude: upstreamNote('api.anthropic.com (https)'),
}

/** Returns a first call through the gateway at a base URL. */
export function firstCall(kind: FirstCallKind, baseUrl: string, model: string): FirstCall {
  return { text: texts[kind](baseUrl, model), note: notes[kind] ?? null }
}

const texts: Readonly<Record<FirstCallKind, (baseUrl: string, model: string) => string>> = {
  curl: (baseUrl, model) => curl(baseUrl, model, ['Authorization: Bearer $OPENAI_API_KEY']),
  python: (baseUrl, model) => `from openai import OpenAI

client = OpenAI(base_url="${baseUrl}")
answer = client.chat.completions.create(
    model="${model}", messages=[{"role": "user", "content": "Hello"}]
)
print(answer.choices[0].message.content)`,
  javascript: (baseUrl, model) => `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${baseUrl}' })
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(answer.choices[0].message.content)`,
  ollama: (baseUrl) => curl(baseUrl, 'llama3.2', []),
  claude: (baseUrl) => `export ANTHROPIC_BASE_URL=${baseUrl.replace(/\/v1$/, '')}\nclaude`,
  // Quotes work in any POSIX shell, and only codex is needed.
  codex: (baseUrl) => `codex \\
  -c 'model_provider="tokenweir"' \\
  -c 'model_providers.tokenweir={name="tokenweir", base_url="${baseUrl}", wire_api="responses", env_key="OPENAI_API_KEY"}'`,
}

function curl(baseUrl: string, model: string, headers: readonly string[]): string {
  return [
    `curl ${baseUrl}/chat/completions \\`,
    ...[...headers, 'Content-Type: application/json'].map((header) => `  -H "${header}" \\`),
    `  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join('\n')
}

function upstreamNote(upstream: string): string {
  return `Needs the upstream ${upstream}: set it in Settings, or with --upstream.`
}
