import { jsonOrUndefined } from '../../json/json-piece.ts'
import { isObject } from '../../lib/message-shape.ts'
import { maskKeys } from '../../secrets/key-shapes.ts'
import type { RawTag } from '../http/caller-headers.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import { storedText } from '../recorder/stored-text.ts'

/** Most tags of a call. */
const mostTags = 8
/** Longest key and longest value, in characters. */
const longestPart = 64
/** Longest `metadata.user_id` that a session is looked for in. */
const longestUserId = 512
/** What would be read as a border between tags, or cannot be shown. */
const unfit = /[\p{Cc},]+/gu

/** `key:value` as a record holds it, without credentials; empty if either side is. */
export function tagText([key, value]: RawTag): string {
  const kept = partText(key.replaceAll(':', ' '))
  const said = partText(value)
  if (kept === '' || said === '') return ''
  // A key may announce that its value is a credential.
  const text = maskKeys(`${kept}:${said}`)
  return text.startsWith(`${kept}:`) ? text : ''
}

function partText(text: string): string {
  return storedText(text.replace(unfit, ' ').trim(), longestPart).trim()
}

/** At most eight tags as one text, in this order; `null` if there are none. A key of a header goes before the body's. */
export function joinedTags(
  ofHead: readonly RawTag[],
  ofBody: readonly RawTag[],
  textOf: (tag: RawTag) => string,
): string | null {
  const others = ofBody.filter(([key]) => !ofHead.some(([taken]) => taken === key))
  const texts = new Set<string>()
  for (const tag of [...ofHead, ...others]) {
    const text = textOf(tag)
    if (text !== '') texts.add(text)
    if (texts.size === mostTags) break
  }
  return texts.size === 0 ? null : [...texts].join(',')
}

/** What a body says of who calls: `user`, `safety_identifier`, and the flat part of `metadata`. */
export function tagsOfBody({ user, safetyIdentifier, metadata }: RequestFacts): readonly RawTag[] {
  const tags: RawTag[] = []
  if (user !== null) tags.push(['user', user])
  if (safetyIdentifier !== null) tags.push(['safety_identifier', safetyIdentifier])
  if (!isObject(metadata)) return tags
  for (const [key, value] of Object.entries(metadata)) {
    const isFlat = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (isFlat && !(key === 'user_id' && sessionOf(value) !== null)) tags.push([key, String(value)])
  }
  return tags
}

/**
 * The session in `metadata.user_id` as Claude Code sends it: `user_…_account_…_session_…`, since 2.1.78 a JSON text with
 * `session_id`. `null` if it holds none.
 */
export function sessionInMetadata(metadata: unknown): string | null {
  return isObject(metadata) ? sessionOf(metadata['user_id']) : null
}

function sessionOf(userId: unknown): string | null {
  if (typeof userId !== 'string' || userId.length > longestUserId) return null
  if (!userId.startsWith('{')) return /^user_\w+_account_[\w-]*?_session_([\w-]+)$/.exec(userId)?.[1] ?? null
  const told = jsonOrUndefined(userId)
  const session = isObject(told) ? told['session_id'] : null
  return typeof session === 'string' && session !== '' ? session : null
}
