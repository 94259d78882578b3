import { type CallDraft, blankRecord } from '../../call/call-record.ts'
import { Failure } from '../../call/failure.ts'
import type { PayloadCopy } from '../../call/payload-port.ts'
import type { PathMeaning } from '../http/path-meaning.ts'
import type { RequestHead } from '../http/request-head.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import { storedText } from '../recorder/stored-text.ts'
import { sessionInMetadata, tagsOfBody } from './caller-tags.ts'
import type { ClientLabels } from './client-labels.ts'
import type { ArrivedCall, RunningCallOptions } from './running-call.ts'

/** Most characters of a content coding that a message repeats. */
const longestCoding = 40

/** The record of a call, with the fields from its head. */
export function identify(
  { req, head, target }: ArrivedCall,
  path: PathMeaning,
  { ids, labels, instance }: Pick<RunningCallOptions, 'ids' | 'labels' | 'instance'>,
): CallDraft {
  const { userAgent, credential, traceParent } = head
  const record = blankRecord()
  record.id = ids.next()
  record.callType = path.callType
  record.endpoint = labels.header(target.path) ?? '/'
  record.method = req.method ?? 'GET'
  record.instance = instance
  record.clientRetry = head.clientRetry
  record.keyFingerprint = credential === null ? null : labels.fingerprint(credential)
  record.client = labels.client(head, record.keyFingerprint)
  record.userAgent = labels.header(userAgent)
  record.session = labels.session(head.session)
  record.sessionSource = record.session === null ? null : head.sessionSource
  record.tags = labels.tags(head.tags, [])
  record.traceId = traceParent?.traceId ?? null
  record.parentSpanId = traceParent?.spanId ?? null
  return record
}

/** The copy of a call's payloads; null if they are neither logged nor watched. */
export function copyPayloads(
  { req, target }: ArrivedCall,
  call: CallDraft,
  receivedAtMs: number,
  { rawLog, onFault }: Pick<RunningCallOptions, 'rawLog' | 'onFault'>,
): PayloadCopy | null {
  try {
    const path = target.path + target.query
    return rawLog.begin({ call, path, headers: req.rawHeaders, receivedAtMs, onFault })
  } catch (error) {
    onFault(error)
    return null
  }
}

/** Adds the fields of the caller that only the body has. `findsSession`: the body may name the session. */
export function noteCaller(
  record: CallDraft,
  head: RequestHead,
  facts: RequestFacts,
  labels: ClientLabels,
  findsSession: boolean,
): void {
  const { promptCacheKey, user, safetyIdentifier, metadata } = facts
  const hasTags = user !== null || safetyIdentifier !== null || metadata !== undefined
  if (!hasTags && promptCacheKey === null) return
  if (hasTags) record.tags = labels.tags(head.tags, tagsOfBody(facts))
  if (record.session !== null || !findsSession) return
  const key = labels.session(promptCacheKey)
  record.session = key ?? labels.session(sessionInMetadata(metadata))
  if (record.session !== null) record.sessionSource = key === null ? 'metadata.user_id' : 'prompt_cache_key'
}

/** Why the body of a request cannot be read. */
export function unreadableBody({ contentEncoding }: RequestHead): string {
  const coding = storedText(contentEncoding ?? '', longestCoding)
  return `The request body cannot be decoded (Content-Encoding: ${coding}). The gateway reads gzip, deflate, br and zstd.`
}

/** The refusal of a call whose model cannot be read, so that its upstream is unknown. */
export function unreadableModel(head: RequestHead): Failure {
  const advice = 'Send it without a coding, or name the upstream in the path.'
  return new Failure('unreadable_body', `${unreadableBody(head)} ${advice}`, {
    headers: ['Accept-Encoding', 'gzip, deflate, br, zstd'],
  })
}
