import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { AddressLink, useNavigation, useTimes } from '../data/navigation.tsx'
import { nowMs } from '../data/dashboard-clock.ts'
import { type PageAddress, type View, viewReset, viewWords, writeAddress } from '../data/page-address.ts'
import { boundsOf } from '../data/page-range.ts'
import { useLive } from '../data/live.ts'
import { useAction } from '../data/use-action.ts'
import { useObservable } from '../data/observable.ts'
import { Button } from '../design/button.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import type { IconName } from '../design/icon.tsx'
import { lazyPart } from '../design/lazy-part.tsx'
import { Banner } from '../design/banner.tsx'
import { useWidth } from '../design/use-window.ts'
import { commandK, useShortcuts } from '../design/keys.ts'
import { FullOrBrief, NowStrip } from './now-strip.tsx'
import { type Theme, storedTheme } from './preferences.ts'

// A dialog has no placeholder in the page.
const HelpDialog = lazyPart(
  async () => (await import('./help-dialog.tsx')).HelpDialog,
  () => null,
)

const FindDialog = lazyPart(
  async () => (await import('./find-dialog.tsx')).FindDialog,
  () => null,
)

const views = Object.keys(viewWords) as View[]

/** The page's icon, which its head has as a data URL. */
const iconUrl = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href

/** The keys of views that share their first letter with another view. */
const otherKeys: Partial<Record<View, string>> = { costs: '$', compare: 'm', settings: ',' }

/** Returns the key that opens the view after `g`. */
const keyOf = (view: View): string => otherKeys[view] ?? view.charAt(0)

/** The mark, the links to the views, and the gateway's current state. */
export function TopBar() {
  const { address, go } = useNavigation()
  const isSimulated = useLive(({ status }) => status?.simulated === true)
  const [isHelpShown, showHelp] = useState(false)
  const [isFindShown, showFind] = useState(false)
  const find = (): void => showFind(true)
  const starting = useAction()
  const nav = useRef<HTMLElement>(null)
  // A phone has no room for all links, so the links scroll to the current view.
  useLayoutEffect(() => {
    const shown = nav.current?.querySelector<HTMLElement>('[aria-current]')
    if (nav.current === null || shown === null || shown === undefined) return
    const { left, right } = nav.current.getBoundingClientRect()
    const { left: from, right: to } = shown.getBoundingClientRect()
    nav.current.scrollLeft += Math.max(0, to - right) - Math.max(0, left - from)
  }, [address.view, useWidth(nav)])
  useShortcuts(
    'Views',
    views.map((view) => ({
      key: `g ${keyOf(view)}`,
      words: viewWords[view],
      run: () => go({ view, ...viewReset }),
    })),
  )
  useShortcuts('Page', [
    { key: '/', words: 'Find', run: find },
    { key: commandK, words: 'Find', run: find },
    { key: '?', words: 'This help', run: () => showHelp(true) },
  ])
  return (
    <header class="top-bar">
      <div class="top-bar-row row">
        <AddressLink to={{ view: 'overview', ...viewReset }} class="product row" title="tokenweir">
          <img src={iconUrl} alt="" />
          <span>tokenweir</span>
        </AddressLink>
        <nav ref={nav} class="views" aria-label="Views">
          {views.map((view) => (
            <AddressLink
              key={view}
              to={{ view, ...viewReset }}
              aria-current={view === address.view ? 'page' : undefined}
            >
              {viewWords[view]}
            </AddressLink>
          ))}
        </nav>
        {isSimulated && (
          <span
            class="tag accent simulated"
            title="The demo’s upstream responds with made-up text; no real model is called."
          >
            <FullOrBrief full="Simulated" brief="Demo" />
          </span>
        )}
        <NowStrip starting={starting} />
        <div class="top-bar-buttons edge-buttons">
          <Button kind="bare" icon="search" label="Find" title="Find (/)" onClick={find} />
          <CopyButton icon="link" what="a link to this view" text={() => linkTo(address)} />
          <Button
            kind="bare"
            icon="help"
            class="help-button"
            label="Help"
            title="Help: shortcuts and figures (?)"
            onClick={() => showHelp(true)}
          />
          <ZoneButton />
          <ThemeButton />
        </div>
      </div>
      {starting.error !== null && (
        <div class="bar-error">
          <Banner
            tone="bad"
            actions={
              <Button small onClick={starting.forgetError}>
                Close
              </Button>
            }
          >
            The gateway failed to start. {starting.error.message}
          </Banner>
        </div>
      )}
      {isFindShown && <FindDialog onClose={() => showFind(false)} />}
      {isHelpShown && <HelpDialog onClose={() => showHelp(false)} />}
    </header>
  )
}

/** Returns the address with a fixed range. A relative range would have moved on when the link is opened. */
function linkTo(address: PageAddress): string {
  return location.origin + writeAddress({ ...address, range: { last: null, ...boundsOf(address, nowMs()) } })
}

/** Switches the times of the page between the reader's zone and UTC. */
function ZoneButton() {
  const { address, go } = useNavigation()
  const { utc } = address
  const { isAlwaysUtc } = useTimes()
  const turn = (): void => go({ utc: !utc })
  useShortcuts('Page', isAlwaysUtc ? [] : [{ key: 'z', words: 'Times in UTC or your time zone', run: turn }])
  if (isAlwaysUtc) return null
  return (
    <Button kind="bare" class="zone-button" aria-pressed={utc} title="Times in UTC (z)" onClick={turn}>
      UTC
    </Button>
  )
}

interface Look {
  readonly icon: IconName
  readonly words: string
  readonly next: Theme
}

const looks: Readonly<Record<Theme, Look>> = {
  auto: { icon: 'auto', words: 'system', next: 'light' },
  light: { icon: 'sun', words: 'light', next: 'dark' },
  dark: { icon: 'moon', words: 'dark', next: 'auto' },
}

/** Switches to the next theme. */
function ThemeButton() {
  const { icon, words, next } = looks[useObservable(storedTheme)]
  const turn = (): void => storedTheme.set(next)
  useShortcuts('Page', [{ key: 't', words: 'Next theme', run: turn }])
  return (
    <Button kind="bare" icon={icon} label={`Theme: ${words}`} title={`Theme: ${words} (t)`} onClick={turn} />
  )
}
