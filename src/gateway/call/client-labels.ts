import { isUtf8 } from 'node:buffer'
import { createHmac } from 'node:crypto'
import type { CallDraft } from '../../call/call-record.ts'
import { remembered } from '../../lib/remembered.ts'
import type { RawTag } from '../http/caller-headers.ts'
import type { RequestHead } from '../http/request-head.ts'
import type { RequestFacts } from '../http/request-peek.ts'
import { storedText } from '../recorder/stored-text.ts'
import { joinedTags, sessionInMetadata, tagText, tagsOfBody } from './caller-tags.ts'
import { agentAt, agentNamed, agentOfHeader, type Product, productOf } from './client-names.ts'

/** Most characters of a label. */
const longestLabel = 200
/** Longest name of a model, and longest other word of an answer, in characters. */
const longestWord = 512
/** Most characters of a session's name; a longer value names no session. */
const longestSession = 1000
/** Characters of a user agent that are read. */
const longestUserAgent = 512

/** The labels of a caller, from the head of a request. */
export type Introduction = Pick<
  RequestHead,
  'clientLabel' | 'userAgent' | 'originator' | 'title' | 'referer' | 'sessionSource'
>

/** Notes who calls. The words about a caller may be stored, and are never a credential. */
export class ClientLabels {
  /** 8 hexadecimal digits that identify a credential, with or without `Bearer`; `null` for none. */
  readonly fingerprint: (credential: string) => string | null
  /** A word of a body, such as a model's name, without credentials and cut to the length that a table allows. */
  readonly text: (chosen: string) => string = remembered((text) => storedText(text, longestWord))
  readonly #product = remembered((userAgent): Product => {
    const { name, isLibrary } = productOf(userAgent)
    return { name: storedText(name, longestLabel), isLibrary }
  })
  readonly #agent = remembered((header) => agentNamed(headerText(header).trim()), longestLabel)
  readonly #site = remembered((site) => storedText(agentAt(site), longestLabel), longestLabel)
  readonly #session = remembered(sessionText, longestLabel)
  readonly #tag = remembered((tag) => tagText(JSON.parse(tag) as RawTag), longestLabel)
  readonly #nameOf: (fingerprint: string) => string | null
  readonly #header = remembered(headerText, longestLabel)

  /**
   * `salt` belongs to the installation, so that fingerprints are useless elsewhere. `nameOf` returns the name
   * that a person gave to the key with a fingerprint.
   */
  constructor(salt: Uint8Array, nameOf: (fingerprint: string) => string | null = () => null) {
    this.#nameOf = nameOf
    this.fingerprint = remembered((credential) => {
      const key = credential.replace(/^bearer(\s+|$)/i, '')
      return key === '' ? null : createHmac('sha256', salt).update(key).digest('hex').slice(0, 8)
    })
  }

  /** Notes the caller in a record, from the head of the request. */
  noteHead(record: CallDraft, head: RequestHead): void {
    const { credential, traceParent } = head
    record.keyFingerprint = credential === null ? null : this.fingerprint(credential)
    record.client = this.client(head, record.keyFingerprint)
    record.userAgent = this.header(head.userAgent)
    record.session = this.session(head.session)
    record.sessionSource = record.session === null ? null : head.sessionSource
    record.tags = this.tags(head.tags, [])
    record.clientRetry = head.clientRetry
    record.traceId = traceParent?.traceId ?? null
    record.parentSpanId = traceParent?.spanId ?? null
  }

  /** Adds the facts of the caller that only the body has. `findsSession`: the body may name the session. */
  noteBody(record: CallDraft, head: RequestHead, facts: RequestFacts, findsSession: boolean): void {
    const { promptCacheKey, user, safetyIdentifier, metadata } = facts
    const hasTags = user !== null || safetyIdentifier !== null || metadata !== undefined
    if (!hasTags && promptCacheKey === null) return
    if (hasTags) record.tags = this.tags(head.tags, tagsOfBody(facts))
    if (record.session !== null || !findsSession) return
    const key = this.session(promptCacheKey)
    record.session = key ?? this.session(sessionInMetadata(metadata))
    if (record.session !== null) record.sessionSource = key === null ? 'metadata.user_id' : 'prompt_cache_key'
  }

  /** A path or a header's value, without credentials and cut; `null` if it is empty or absent. */
  header(value: string | null): string | null {
    return value === null || value === '' ? null : this.#header(value)
  }

  /**
   * The calling program. The first of these counts: its label; its user agent, if not a library's; other
   * headers about itself; the name of its key; the library. `null` without any.
   */
  client(head: Introduction, fingerprint: string | null): string | null {
    const { clientLabel, userAgent, originator, title, referer, sessionSource } = head
    const label = this.header(clientLabel)
    if (label !== null) return label
    const product = userAgent === null ? null : this.#product(userAgent.slice(0, longestUserAgent))
    if (product !== null && !product.isLibrary && product.name !== '') return product.name
    const ownName = this.#nameIn(originator) ?? this.#nameIn(title) ?? agentOfHeader(sessionSource)
    const site = ownName ?? (referer === null ? null : this.#site(referer))
    if (site !== null && site !== '') return site
    const configured = fingerprint === null ? null : this.header(this.#nameOf(fingerprint))
    return configured ?? (product === null || product.name === '' ? null : product.name)
  }

  /** The name of a session; `null` if there is none, or it is too long or has control characters. */
  session(value: string | null): string | null {
    return value === null || value.length > longestSession ? null : this.#session(value)
  }

  /** Tags as a record has them; `null` without tags. */
  tags(ofHead: readonly RawTag[] | null, ofBody: readonly RawTag[]): string | null {
    if (ofHead === null && ofBody.length === 0) return null
    const fromHead = (ofHead ?? []).map(([key, value]) => [key, asText(value)] as const)
    return joinedTags(fromHead, ofBody, (tag) => this.#tag(JSON.stringify(tag)))
  }

  #nameIn(header: string | null): string | null {
    const name = header === null ? '' : this.#agent(header)
    return name === '' ? null : name
  }
}

/** Decodes a header: Node reads its bytes as Latin-1, but valid UTF-8 is what the client meant. */
function asText(header: string): string {
  if (!/[\x80-\xff]/.test(header)) return header
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : header
}

function headerText(value: string): string {
  return storedText(asText(value), longestLabel)
}

function sessionText(value: string): string | null {
  const text = asText(value).trim()
  return text === '' || /\p{Cc}/u.test(text) ? null : storedText(text, longestLabel)
}
