import type { CallType } from '../../src/call/call.ts'

export interface DemoClient {
  readonly name: string
  readonly userAgent: string
  readonly weight: number
  readonly types: readonly CallType[]
  /** Share of its chats that are streamed. */
  readonly streamed: number
  /** Chance that a call begins a new session; null where it names none. */
  readonly newSession: number | null
  /** 8 hexadecimal digits, as a signed number. */
  readonly keyFingerprint: number
  /** The tags of its calls; null for none. */
  readonly tags: readonly string[] | null
}

const environments = ['live', 'staging', 'test'] as const
const everything: readonly CallType[] = ['chat', 'embedding', 'rerank', 'props', 'other']

/** Who calls: an application or two that make most of the load, and many small ones. */
export const demoClients: readonly DemoClient[] = [
  client('support-desk', 100, ['chat'], 0.97, 0.12),
  client('search-indexer', 90, ['embedding', 'rerank'], 0, null),
  client('openai-python', 60, everything, 0.5, null),
  client('code-assistant', 45, ['chat'], 0.99, 0.04),
  client('openai-node', 30, everything, 0.7, null),
  client('nightly-batch', 22, ['chat', 'embedding'], 0, null),
  client('langchain', 14, everything, 0.4, 0.2),
  client('curl', 4, everything, 0.2, null),
  client('monitoring', 6, ['props', 'other'], 0, null),
  ...Array.from({ length: 24 }, (_, i) => client(`team-${i + 1}`, 12 / (i + 1), everything, 0.6, null)),
  client('a-rare-client', 0.02, ['chat'], 1, null),
]

/** 300 clients, most of which have one or two of 20 tags, in place of a few without any. */
export const manyClients: readonly DemoClient[] = [
  ...demoClients,
  ...Array.from({ length: 300 - demoClients.length }, (_, i) =>
    client(`app-${i + 1}`, 20 / (i + 8), everything, 0.6, i % 9 === 0 ? 0.2 : null),
  ),
].map((each, i) => Object.assign({}, each, { tags: tagsOf(i) }))

function tagsOf(i: number): readonly string[] | null {
  if (i % 5 === 4) return null
  const team = `team:${i % 17}`
  return i % 2 === 0 ? [`env:${environments[i % 3]}`, team] : [team]
}

function client(
  name: string,
  weight: number,
  types: readonly CallType[],
  streamed: number,
  newSession: number | null,
): DemoClient {
  const userAgent = name.startsWith('team-') ? 'OpenAI/Python 2.9.0' : `${name}/1.${name.length}.0`
  let keyFingerprint = 17
  for (const character of name) keyFingerprint = (Math.imul(keyFingerprint, 31) + character.charCodeAt(0)) | 0
  return {
    name,
    userAgent,
    weight,
    types,
    streamed,
    newSession,
    keyFingerprint: Math.imul(keyFingerprint, 0x9e37_79b1),
    tags: null,
  }
}
