import type { RawHeaders } from '../../call/response-head.ts'
import { headerOf } from '../../lib/http/header-list.ts'

/**
 * The query and headers for a whole list of models. Anthropic's API, recognised by the header of its key,
 * requires a version (docs.anthropic.com, Versions) and lists 20 models by default, 1,000 at most (List
 * Models). `query` begins with its question mark, or is empty.
 */
export function modelListRequest(
  headers: RawHeaders,
  query: string,
): { readonly headers: RawHeaders; readonly query: string } {
  if (headerOf(headers, 'x-api-key') === null) return { headers, query }
  const version = headerOf(headers, 'anthropic-version') === null ? ['anthropic-version', '2023-06-01'] : []
  const isBounded = /[?&](?:limit|after_id|before_id)=/.test(query)
  const longest = query.length > 1 ? `${query}&limit=1000` : '?limit=1000'
  return { headers: [...headers, ...version], query: isBounded ? query : longest }
}
