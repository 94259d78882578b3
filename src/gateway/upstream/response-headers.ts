import type { RawHeaders } from '../../call/call-observer.ts'
import { type HeaderNames, hopByHopHeaders, withoutNominated } from '../../lib/header-list.ts'

export interface ResponseHeaders {
  /** Order, spelling and duplicates kept; hop-by-hop headers gone. */
  readonly endToEnd: RawHeaders
  /** Whether the body ends only with the connection (RFC 9112 §6.3), so that an end may be a cut. */
  readonly closeDelimited: boolean
}

/** Reads an answer's header list as it came off the wire, in Latin-1 as HTTP has it. */
export function readResponseHeaders(raw: readonly Buffer[], names: HeaderNames): ResponseHeaders {
  const endToEnd: string[] = []
  let framed = false
  let connection: string | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toString('latin1') ?? ''
    const value = raw[i + 1]?.toString('latin1') ?? ''
    const lower = names.lowerCase(name)
    if (hopByHopHeaders.has(lower)) {
      if (lower === 'transfer-encoding') framed = true
      if (lower === 'connection') connection = connection === null ? value : `${connection},${value}`
      continue
    }
    if (lower === 'content-length') framed = true
    endToEnd.push(name, value)
  }
  return {
    endToEnd: connection === null ? endToEnd : withoutNominated(endToEnd, connection, names),
    closeDelimited: !framed,
  }
}
