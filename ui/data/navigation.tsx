import { createContext, type ComponentChildren, type JSX } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'
import { Times } from '../format/times.ts'
import { type PageAddress, plainAddress, readAddress, writeAddress } from './page-address.ts'

/** Where the page is, and how it goes elsewhere. */
export interface Navigation {
  readonly address: PageAddress
  /** Whether it is still the address that the page was opened with. */
  readonly isFirst: boolean
  /** Changes parts of the address: a step that Back undoes. */
  readonly go: (change: Partial<PageAddress>) => void
  /** The same without such a step: for typing, and for moving through a list. */
  readonly amend: (change: Partial<PageAddress>) => void
}

const NavigationContext = createContext<Navigation | null>(null)
const TimesContext = createContext(new Times(false))

/** Gives what is inside the address of the page, and follows it. */
export function NavigationProvider({ children }: { readonly children: ComponentChildren }): JSX.Element {
  const [now, setNow] = useState(() => ({ address: currentAddress(), isFirst: true }))
  const ways = useMemo(() => {
    const follow = (): void => setNow({ address: currentAddress(), isFirst: false })
    const move = (how: 'pushState' | 'replaceState') => (change: Partial<PageAddress>) => {
      // From where the page is now: two changes in one turn build upon each other.
      const text = writeAddress({ ...currentAddress(), ignored: [], ...change })
      if (text !== location.pathname + location.search) history[how](null, '', text)
      follow()
    }
    return { follow, go: move('pushState'), amend: move('replaceState') }
  }, [])
  useEffect(() => {
    addEventListener('popstate', ways.follow)
    return () => removeEventListener('popstate', ways.follow)
  }, [])
  const navigation = useMemo(() => ({ ...now, go: ways.go, amend: ways.amend }), [now])
  const { utc } = now.address
  const times = useMemo(() => new Times(utc), [utc])
  return (
    <NavigationContext.Provider value={navigation}>
      <TimesContext.Provider value={times}>{children}</TimesContext.Provider>
    </NavigationContext.Provider>
  )
}

/** Where the page is, and how it goes elsewhere. */
export function useNavigation(): Navigation {
  const navigation = useContext(NavigationContext)
  if (navigation === null) throw new Error('useNavigation is for what is inside NavigationProvider')
  return navigation
}

/** Instants as the address wants them: by the reader's clock, or in UTC. */
export function useTimes(): Times {
  return useContext(TimesContext)
}

export interface AddressLinkProps extends Omit<JSX.IntrinsicElements['a'], 'href' | 'onClick' | 'role'> {
  /** What is different there. */
  readonly to: Partial<PageAddress>
}

/** A link within the page: what is not said of the address stays as it is. */
export function AddressLink({ to, children, ...rest }: AddressLinkProps): JSX.Element {
  const { address, go } = useNavigation()
  return (
    <a
      {...rest}
      href={writeAddress({ ...address, ...to })}
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
  return readAddress(location.pathname, new URLSearchParams(location.search)) ?? plainAddress
}
