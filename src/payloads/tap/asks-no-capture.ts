import type { RawHeaders } from '../../call/call-observer.ts'

const name = 'x-tokenweir-capture'

/** Whether the client asked, by `x-tokenweir-capture: off`, that this call is neither kept nor shown. */
export function asksNoCapture(headers: RawHeaders): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const header = headers[at]
    if (header?.length !== name.length || header.toLowerCase() !== name) continue
    if (headers[at + 1]?.trim().toLowerCase() === 'off') return true
  }
  return false
}
