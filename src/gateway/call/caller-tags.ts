import { isObject, readMessage } from '../../lib/message-shape.ts'
import type { RawTag } from '../http/caller-headers.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import { storedText } from '../recorder/stored-text.ts'

/** Most tags of a call. */
const mostTags = 8
/** Longest key and longest value, in characters. */
const longestPart = 64
/** Most characters of a user id that is searched for a session. */
const longestUserId = 512
/** Characters that separate tags or cannot be shown. */
const unfit = /[\p{Cc},]+/gu

/** A tag as a record has it, `key:value`, without credentials; empty if key or value is empty. */
export function tagText([key, value]: RawTag): string {
  // Some credentials contain a colon and are recognized only with it.
  const keyText = partText(key).replaceAll(':', ' ').trim()
  const valueText = partText(value)
  if (keyText === '' || valueText === '') return ''
  // A key may announce that its value is a credential.
  const text = storedText(`${keyText}:${valueText}`, 2 * longestPart + 1)
  return text.startsWith(`${keyText}:`) ? text : ''
}

function partText(text: string): string {
  return storedText(text.replace(unfit, ' ').trim(), longestPart).trim()
}

/**
 * At most eight tags joined by commas, headers first; `null` without tags. If header and body have the same
 * key, the header counts.
 */
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

/** The caller's tags in a body: `user`, `safety_identifier`, and the flat part of `metadata`. */
export function tagsOfBody({ user, safetyIdentifier, metadata }: RequestFacts): readonly RawTag[] {
  const tags: RawTag[] = []
  if (user !== null) tags.push(['user', user])
  if (safetyIdentifier !== null) tags.push(['safety_identifier', safetyIdentifier])
  if (!isObject(metadata)) return tags
  for (const [key, value] of Object.entries(metadata)) {
    const isFlat = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (isFlat && !(key === 'user_id' && sessionInUserId(value) !== null)) tags.push([key, String(value)])
  }
  return tags
}

/** The session that `metadata.user_id` names; null if it names none. */
export function sessionInMetadata(metadata: unknown): string | null {
  return isObject(metadata) ? sessionInUserId(metadata['user_id']) : null
}

/**
 * The session in the `user_id` that Claude Code sends in Messages: `user_…_account_…_session_…`, or, since
 * 2.1.78, a JSON text with `session_id`. `null` without one.
 */
function sessionInUserId(userId: unknown): string | null {
  if (typeof userId !== 'string' || userId.length > longestUserId) return null
  if (!userId.startsWith('{')) return /^user_\w+_account_[\w-]*?_session_([\w-]+)$/.exec(userId)?.[1] ?? null
  const session = readMessage(userId, isObject)?.['session_id']
  return typeof session === 'string' && session !== '' ? session : null
}
