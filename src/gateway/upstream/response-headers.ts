import type { RawHeaders } from '../../call/call-observer.ts'
import { type HeaderNames, hopByHopHeaders, withoutNominated } from '../../lib/header-list.ts'

export interface ResponseHeaders {
  /** Order, spelling and duplicates kept; hop-by-hop headers gone. */
  readonly endToEnd: RawHeaders
  /** Value of `Content-Length`; `null` where it is absent. */
  readonly contentLength: number | null
}

/** Reads an answer's header list as it came off the wire, in Latin-1 as HTTP has it. */
export function readResponseHeaders(raw: readonly Buffer[], names: HeaderNames): ResponseHeaders {
  const endToEnd: string[] = []
  let connection: string | null = null
  let contentLength: number | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toString('latin1') ?? ''
    const value = raw[i + 1]?.toString('latin1') ?? ''
    const lower = names.lowerCase(name)
    if (hopByHopHeaders.has(lower)) {
      if (lower === 'connection') connection = connection === null ? value : `${connection},${value}`
      continue
    }
    if (lower === 'content-length') contentLength = Number(value)
    endToEnd.push(name, value)
  }
  return {
    endToEnd: connection === null ? endToEnd : withoutNominated(endToEnd, connection, names),
    contentLength,
  }
}
