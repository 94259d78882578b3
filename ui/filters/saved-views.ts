import { type PageAddress, readAddress } from '../data/page-address.ts'

export const mostViews = 50
export const longestName = 60

/** An address of the page under a name. */
export interface SavedView {
  readonly name: string
  /** Path and query, as a link has them: what ends now goes on to do so. */
  readonly address: string
}

/** Reads what the browser kept; whatever is no view, or leads nowhere any more, is left out. */
export function readViews(text: string | null): readonly SavedView[] {
  const kept: unknown = JSON.parse(text ?? '[]')
  return Array.isArray(kept) ? kept.filter(isView).slice(0, mostViews) : []
}

/** With the address under the name: in the place of the one that had it, or as the last. */
export function withView(views: readonly SavedView[], name: string, address: string): readonly SavedView[] {
  const isKnown = views.some((view) => view.name === name)
  if (isKnown) return views.map((view) => (view.name === name ? { name, address } : view))
  return views.length < mostViews ? [...views, { name, address }] : views
}

/** Where a view leads; null if this page knows no such path. */
export function addressOf({ address }: SavedView): PageAddress | null {
  const [path = '', query = ''] = address.split('?', 2)
  return readAddress(path, new URLSearchParams(query))
}

function isView(kept: unknown): kept is SavedView {
  const { name, address } = (kept ?? {}) as Partial<Record<keyof SavedView, unknown>>
  if (typeof name !== 'string' || name === '' || typeof address !== 'string') return false
  return addressOf({ name, address }) !== null
}
