import { type PageAddress, isStatus } from '../data/page-address.ts'

/** A search asks for the panel of one call, or for a change of the filters. */
export type Searched = { readonly id: string } | { readonly filter: Partial<PageAddress> }

/** Reads a search: an id of eleven digits of Crockford's base32, a status as rows show it, else an error code. */
export function searched(text: string): Searched {
  const sought = text.trim()
  const id = sought.toLowerCase()
  // Of at most 53 bits.
  if (/^[0-7][0-9a-hjkmnp-tv-z]{10}$/.test(id)) return { id }
  return { filter: isStatus(sought) ? { statuses: [sought], q: '' } : { q: sought } }
}
