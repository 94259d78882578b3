import type { RawHeaders } from '../../call/response-head.ts'
import { headerOf, listTokens } from '../../lib/http/header-list.ts'

/** True if the client asked, by `x-tokenweir-capture: off`, that this call is neither kept nor shown. */
export function asksNoCapture(headers: RawHeaders): boolean {
  return listTokens(headerOf(headers, 'x-tokenweir-capture') ?? '').includes('off')
}
