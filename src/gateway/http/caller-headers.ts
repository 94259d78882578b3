/**
 * Headers in which agents and gateways send the name of a run or conversation, by precedence: Claude Code;
 * opencode and Agents SDKs; Codex, new and old; opencode's own provider, and others; cagent; Open WebUI;
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

/** The word in `--session-header` that excludes all headers but `x-tokenweir-session`. */
const noOthers = 'none'
const tagPrefixes = ['x-tokenweir-tag-', 'helicone-property-']
const tagList = 'x-litellm-tags'
/** The key of a tag without a key. */
const plainKey = 'tag'
/** Most tags that are read: a record keeps eight. */
const mostTags = 16

/** The headers and body members that may name a request's session. */
export interface SessionPlaces {
  /** Headers by name in lower case, with their rank. A lower rank counts first. */
  readonly ranks: ReadonlyMap<string, number>
  /** True if the body may name the session when no header does. */
  readonly inBody: boolean
}

/** The places of a session's name. `first`: the headers of `--session-header`, in lower case. */
export function sessionPlaces(first: readonly string[]): SessionPlaces {
  const onlyOurs = first.includes(noOthers)
  const names = [
    ...first.filter((name) => name !== noOthers),
    'x-tokenweir-session',
    ...(onlyOurs ? [] : agentsSessionHeaders),
  ]
  // If a name is there twice, its first place counts.
  const ranks = new Map(names.map((name, rank) => [name, rank] as const).toReversed())
  return { ranks, inBody: !onlyOurs }
}

/** The default places of a session's name. */
export const usualSessionPlaces: SessionPlaces = sessionPlaces([])

/** A tag as the client sent it. */
export type RawTag = readonly [key: string, value: string]

/** The tags `before`, and those of this header. `name` is in lower case. */
export function withTags(before: readonly RawTag[] | null, name: string, value: string): typeof before {
  const tags = name === tagList ? listedTags(value) : namedTag(name, value)
  return tags.length === 0 ? before : [...(before ?? []), ...tags].slice(0, mostTags)
}

/** True if {@link withTags} may find a tag in a header of this name. Most names are ruled out by their first letters. */
export function mayBeTag(name: string): boolean {
  return name.startsWith('x-tokenweir-t') || name.startsWith('helicone-p') || name === tagList
}

function namedTag(name: string, value: string): readonly RawTag[] {
  const prefix = tagPrefixes.find((start) => name.startsWith(start))
  return prefix === undefined || value === '' ? [] : [[name.slice(prefix.length), value]]
}

/** The tags in LiteLLM's list: `key:value`, or a single word, which gets the key `tag`. */
function listedTags(value: string): readonly RawTag[] {
  const words = value.split(',', mostTags).map((word) => word.trim())
  return words
    .filter((word) => word !== '')
    .map((word) => {
      const colon = word.indexOf(':')
      return colon < 0 ? [plainKey, word] : [word.slice(0, colon), word.slice(colon + 1)]
    })
}
