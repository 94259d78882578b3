import './app.css'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { type View, viewWords } from '../data/page-address.ts'
import { useLive } from '../data/live.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { OverviewView } from '../overview/overview-view.tsx'
import { FocusHint } from './focus-hint.tsx'
import { TopBar } from './top-bar.tsx'

/** The first view is the Overview. Other views are loaded when they are opened. */
const views: Readonly<Record<View, ComponentType>> = {
  overview: OverviewView,
  compare: lazyPart(async () => (await import('../compare/compare-view.tsx')).CompareView),
  calls: lazyPart(async () => (await import('../calls/calls-view.tsx')).CallsView),
  sessions: lazyPart(async () => (await import('../sessions/sessions-view.tsx')).SessionsView),
  live: lazyPart(async () => (await import('../live/live-view.tsx')).LiveView),
  costs: lazyPart(async () => (await import('../costs/costs-view.tsx')).CostsView),
  gateway: lazyPart(async () => (await import('../gateway/gateway-view.tsx')).GatewayView),
  alerts: lazyPart(async () => (await import('../alerts/alerts-view.tsx')).AlertsView),
  settings: lazyPart(async () => (await import('../settings/settings-view.tsx')).SettingsView),
}

/** The top bar, and the view in the address. */
export function App() {
  const { address } = useNavigation()
  const isLost = useLive(({ lostSinceMs }) => lostSinceMs !== null)
  const ViewOfAddress = views[address.view]
  useEffect(() => {
    document.title = `${viewWords[address.view]} · tokenweir`
  }, [address.view])
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <TopBar />
      <main id="main" class={`page stack ${isLost ? 'is-old' : ''}`} tabIndex={-1}>
        <h1 class="aside">{viewWords[address.view]}</h1>
        <ViewOfAddress />
      </main>
      <FocusHint />
    </>
  )
}
