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

/** For OpenAI, and where the upstream lists no models. */
const usualModel = 'gpt-5-mini'
/** Models whose names say that they do not chat. */
const otherKinds = /embed|rerank|whisper|tts|audio|image|dall-e|moderation|transcribe|realtime|sora/i

/** The model that a first call asks for, of those that the upstream lists. A name must need no quotes in a shell. */
export function firstModel(models: readonly string[]): string {
  const plain = models.filter((name) => /^[\w.:/@+-]{1,100}$/.test(name))
  if (plain.includes(usualModel)) return usualModel
  return plain.find((name) => !otherKinds.test(name)) ?? plain[0] ?? usualModel
}

/** A first call through the gateway at this base URL. */
export function firstCall(kind: FirstCallKind, baseUrl: string, model: string): FirstCall {
  switch (kind) {
    case 'curl':
      return { text: curl(baseUrl, model, true), note: null }
    case 'python':
      return {
        text: [
          'from openai import OpenAI',
          '',
          `client = OpenAI(base_url="${baseUrl}")`,
          'answer = client.chat.completions.create(',
          `    model="${model}", messages=[{"role": "user", "content": "Hello"}]`,
          ')',
          'print(answer.choices[0].message.content)',
        ].join('\n'),
        note: null,
      }
    case 'javascript':
      return {
        text: [
          "import OpenAI from 'openai'",
          '',
          `const client = new OpenAI({ baseURL: '${baseUrl}' })`,
          'const answer = await client.chat.completions.create({',
          `  model: '${model}',`,
          "  messages: [{ role: 'user', content: 'Hello' }],",
          '})',
          'console.log(answer.choices[0].message.content)',
        ].join('\n'),
        note: null,
      }
    case 'ollama':
      return { text: curl(baseUrl, 'llama3.2', false), note: upstreamNote('localhost:11434 (http)') }
    case 'claude':
      return {
        text: `export ANTHROPIC_BASE_URL=${baseUrl.replace(/\/v1$/, '')}\nclaude`,
        note: upstreamNote('api.anthropic.com (https)'),
      }
    case 'codex':
      return { text: codex(baseUrl), note: null }
  }
}

function curl(baseUrl: string, model: string, withKey: boolean): string {
  return [
    `curl ${baseUrl}/chat/completions \\`,
    ...(withKey ? [`  -H "Authorization: Bearer $OPENAI_API_KEY" \\`] : []),
    `  -H "Content-Type: application/json" \\`,
    `  -d '{"model": "${model}", "messages": [{"role": "user", "content": "Hello"}]}'`,
  ].join('\n')
}

/** Quoted for any POSIX shell; needs nothing but codex itself. */
function codex(baseUrl: string): string {
  const provider = `{name="tokenweir", base_url="${baseUrl}", wire_api="responses", env_key="OPENAI_API_KEY"}`
  return [
    'codex \\',
    `  -c 'model_provider="tokenweir"' \\`,
    `  -c 'model_providers.tokenweir=${provider}'`,
  ].join('\n')
}

function upstreamNote(upstream: string): string {
  return `Needs the upstream ${upstream}: set it in Settings, or with --upstream.`
}
