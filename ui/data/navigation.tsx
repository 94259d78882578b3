import type { JSX } from 'preact'
import { Times } from '../format/times.ts'
import { nowMs } from './dashboard-clock.ts'
import { Observable, useObservable } from './observable.ts'
import { changedAddress } from './changed-address.ts'
import { type PageAddress, defaultAddress, readAddress, writeAddress } from './page-address.ts'
import { report } from './report.ts'
import { noteScroll, restoreScroll } from './scroll-place.ts'

/** The address of the page, and functions that change it. */
export interface Navigation {
  readonly address: PageAddress
  /** True if it is still the address that the page was opened with. */
  readonly isFirst: boolean
  /** Changes parts of the address: a step that Back undoes. */
  readonly go: (change: Partial<PageAddress>) => void
  /** Changes the address without a step in the history: for typing, and for moving through a list. */
  readonly replace: (change: Partial<PageAddress>) => void
}

const now = new Observable({ address: currentAddress(), isFirst: true })

function follow(): void {
  now.set({ address: currentAddress(), isFirst: false })
}

function move(how: 'pushState' | 'replaceState', change: Partial<PageAddress>): void {
  if (report !== null) return
  // From where the page is now: two changes in one turn build upon each other.
  const text = writeAddress(changedAddress({ ...currentAddress(), ignored: [] }, change))
  if (text !== location.pathname + location.search) {
    if (how === 'pushState') noteScroll()
    history[how](null, '', text)
  }
  follow()
}

const ways: Pick<Navigation, 'go' | 'replace'> = {
  go: (change) => move('pushState', change),
  replace: (change) => move('replaceState', change),
}

/** Follows Back and Forward from now on. */
export function followHistory(): void {
  addEventListener('popstate', () => {
    follow()
    restoreScroll()
  })
}

/** The address of the page, and functions that change it. */
export function useNavigation(): Navigation {
  return { ...useObservable(now), ...ways }
}

/** Made when they are first needed. */
const times: Partial<Record<'utc' | 'own', Times>> = {}

/** Instants as the address wants them: by the reader's clock, or in UTC. */
export function useTimes(): Times {
  const { utc } = useObservable(now).address
  return (times[utc ? 'utc' : 'own'] ??= new Times(utc, nowMs))
}

export interface AddressLinkProps extends Omit<JSX.IntrinsicElements['a'], 'href' | 'onClick' | 'role'> {
  /** The changes to the address; null if there is nowhere to lead to. */
  readonly to: Partial<PageAddress> | null
}

/** A link within the page: what is not said of the address stays as it is. In a report, and to nowhere, it is its words. */
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
        // With a key held down the browser opens it elsewhere.
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
