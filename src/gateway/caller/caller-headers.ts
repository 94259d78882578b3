import { isObject, readMessage } from '../../lib/message-shape.ts'

/**
 * Headers in which agents and gateways send the name of a run or conversation, in the order in which they are asked:
 * Claude Code; opencode and Agents SDKs; Codex, new and old; opencode's own provider, and others; cagent; Open WebUI;
 * Helicone; Langfuse.
 */
const agentsSessionHeaders = [
  'x-claude-code-session-id',
  'x-session-id',
  'session-id',
  'session_id',
  'thread-id',
  'x-opencode-session',
  'x-session-affinity',
  'x-cagent-session-id',
  'x-openwebui-chat-id',
  'helicone-session-id',
  'langfuse_session_id',
]

/** The word in `--session-header` that excludes all other headers but ours. */
const noOthers = 'none'
const tagPrefixes = ['x-tokenweir-tag-', 'helicone-property-']
const tagList = 'x-litellm-tags'
/** Longest user id that a session is looked for in. */
const longestUserId = 512
/** The key of a tag without a key. */
const plainKey = 'tag'
/** Most tags that are read: a record keeps eight. */
const mostTags = 16

/** The place of a session's name. */
export interface SessionPlaces {
  /** The names of headers, in lower case; a lower number goes first. */
  readonly ranks: ReadonlyMap<string, number>
  /** True if the body may name the session when no header does. */
  readonly inBody: boolean
}

/** `first`: what `--session-header` gives, in lower case. */
export function sessionPlaces(first: readonly string[]): SessionPlaces {
  const onlyOurs = first.includes(noOthers)
  const names = [
    ...first.filter((name) => name !== noOthers),
    'x-tokenweir-session',
    ...(onlyOurs ? [] : agentsSessionHeaders),
  ]
  // The first of two headers of one name counts.
  const ranks = new Map(names.map((name, rank) => [name, rank] as const).toReversed())
  return { ranks, inBody: !onlyOurs }
}

/** The default places of a session's name. */
export const usualSessionPlaces: SessionPlaces = sessionPlaces([])

/** A tag as it was sent. */
export type RawTag = readonly [key: string, value: string]

/** The header's tags after those `before`; `name` is in lower case. */
export function withTags(before: readonly RawTag[] | null, name: string, value: string): typeof before {
  const tags = name === tagList ? listedTags(value) : namedTag(name, value)
  return tags.length === 0 ? before : [...(before ?? []), ...tags].slice(0, mostTags)
}

/** True if {@link withTags} may find one: the first letters rule out most names. */
export function mayBeTag(name: string): boolean {
  return name.startsWith('x-tokenweir-t') || name.startsWith('helicone-p') || name === tagList
}

function namedTag(name: string, value: string): readonly RawTag[] {
  const prefix = tagPrefixes.find((start) => name.startsWith(start))
  return prefix === undefined || value === '' ? [] : [[name.slice(prefix.length), value]]
}

/** LiteLLM's list: `key:value` is a tag, and a single word is a tag with the key `tag`. */
function listedTags(value: string): readonly RawTag[] {
  const words = value.split(',', mostTags).map((word) => word.trim())
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const colon = word.indexOf(':')
      return colon < 0 ? [plainKey, word] : [word.slice(0, colon), word.slice(colon + 1)]
    })
}

/**
 * The session in the `user_id` of a body of Messages as Claude Code sends it: `user_…_account_…_session_…`, since 2.1.78 a
 * JSON text with `session_id`. `null` if it holds none.
 */
export function sessionInUserId(userId: unknown): string | null {
  if (typeof userId !== 'string' || userId.length > longestUserId) return null
  if (!userId.startsWith('{')) return /^user_\w+_account_[\w-]*?_session_([\w-]+)$/.exec(userId)?.[1] ?? null
  const session = readMessage(userId, isObject)?.['session_id']
  return typeof session === 'string' && session !== '' ? session : null
}
