import type { RawHeaders } from '../../call/response-head.ts'
import { headerOf, listTokens } from '../../lib/http/header-list.ts'

/** True if the client has excluded the call from log and feed, by `x-tokenweir-capture: off`. */
export function asksNoCapture(headers: RawHeaders): boolean {
  return listTokens(headerOf(headers, 'x-tokenweir-capture') ?? '').includes('off')
}
