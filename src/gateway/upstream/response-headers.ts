import type { RawHeaders } from '../../call/call-observer.ts'
import { type HeaderNames, hopByHopHeaders, withoutNominated } from '../../lib/header-list.ts'

/**
 * The end-to-end headers of an answer's list as it came off the wire, in Latin-1 as HTTP has it: order,
 * spelling and duplicates kept.
 */
export function readResponseHeaders(raw: readonly Buffer[], names: HeaderNames): RawHeaders {
  const endToEnd: string[] = []
  let connection: string | null = null
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]?.toString('latin1') ?? ''
    const value = raw[i + 1]?.toString('latin1') ?? ''
    const lower = names.lowerCase(name)
    if (hopByHopHeaders.has(lower)) {
      if (lower === 'connection') connection = connection === null ? value : `${connection},${value}`
      continue
    }
    endToEnd.push(name, value)
  }
  return connection === null ? endToEnd : withoutNominated(endToEnd, connection, names)
}
