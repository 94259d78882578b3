import type { JSX } from 'preact'
import { Times } from '../format/times.ts'
import { nowMs } from './dashboard-clock.ts'
import { Observable, useObservable } from './observable.ts'
import { changedAddress } from './changed-address.ts'
import { type PageAddress, defaultAddress, readAddress, writeAddress } from './page-address.ts'
import { report } from './report.ts'
import { noteScroll, restoreScroll } from './scroll-place.ts'

const now = new Observable({
  address: currentAddress(),
  /** True until the address changes for the first time. */
  isFirst: true,
})

let added = 0

/** Returns the number of steps that the page has added to the history. */
export function stepsAdded(): number {
  return added
}

function follow(): void {
  now.set({ address: currentAddress(), isFirst: false })
}

function move(how: 'pushState' | 'replaceState', change: Partial<PageAddress>): void {
  if (report !== null) return
  // The change applies to the current location, so that two changes in one event are both kept.
  const text = writeAddress(changedAddress({ ...currentAddress(), ignored: [] }, change))
  if (text !== location.pathname + location.search) {
    if (how === 'pushState') {
      noteScroll()
      added += 1
    }
    history[how](null, '', text)
  }
  follow()
}

const ways = {
  /** Changes parts of the address, and adds a step to the history. */
  go: (change: Partial<PageAddress>): void => move('pushState', change),
  /** Changes parts of the address without a step in the history: while typing, or moving through a list. */
  replace: (change: Partial<PageAddress>): void => move('replaceState', change),
}

/** Updates the address when the reader goes back or forward. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    follow()
    restoreScroll()
  })
}

/** The address of the page, and functions that change it. */
export type Navigation = ReturnType<typeof useNavigation>

/** Returns the address of the page, and functions that change it. */
export function useNavigation() {
  return { ...useObservable(now), ...ways }
}

/** The two `Times`, each made when it is first used. */
const times: Partial<Record<'utc' | 'own', Times>> = {}

/** Returns the formats for instants, in the reader's zone or in UTC as the address says. */
export function useTimes(): Times {
  const { utc } = useObservable(now).address
  return (times[utc ? 'utc' : 'own'] ??= new Times(utc, nowMs))
}

export interface AddressLinkProps extends Omit<JSX.IntrinsicElements['a'], 'href' | 'onClick' | 'role'> {
  /** The changes to the address; null for plain text. */
  readonly to: Partial<PageAddress> | null
}

/**
 * A link within the page that keeps all other parts of the address. In a report, or if `to` is null, the link is
 * plain text.
 */
export function AddressLink({ to, children, ...rest }: AddressLinkProps) {
  const { address, go } = useNavigation()
  if (report !== null || to === null) {
    return (
      <span class={rest.class} title={rest.title}>
        {children}
      </span>
    )
  }
  return (
    <a
      {...rest}
      href={writeAddress(changedAddress(address, to))}
      onClick={(event) => {
        // With a modifier key, the browser opens the link elsewhere.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

function currentAddress(): PageAddress {
  if (report === null) return addressOf(location.pathname, location.search)
  const { from, to } = report.overview
  const range = { last: null, fromMs: Date.parse(from), toMs: Date.parse(to) } as const
  return { ...addressOf('/', report.query), range, ignored: [] }
}

function addressOf(path: string, query: string): PageAddress {
  return readAddress(path, new URLSearchParams(query)) ?? defaultAddress
}
