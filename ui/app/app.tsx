import './app.css'
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import type { View } from '../data/page-address.ts'
import { Times } from '../format/times.ts'
import { useLive } from '../data/live.ts'
import { type ViewProps, noDrafts } from '../data/view-props.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { OverviewView } from '../overview/overview-view.tsx'
import { TopBar } from './top-bar.tsx'

/** What the first view does not need comes when it is gone to. */
const views: Readonly<Record<View, (props: ViewProps) => JSX.Element>> = {
  overview: OverviewView,
  calls: lazyPart(async () => (await import('../calls/calls-view.tsx')).CallsView),
  live: lazyPart(async () => (await import('../live/live-view.tsx')).LiveView),
  costs: lazyPart(async () => (await import('../costs/costs-view.tsx')).CostsView),
  gateway: lazyPart(async () => (await import('../gateway/gateway-view.tsx')).GatewayView),
}

const titles: Readonly<Record<View, string>> = {
  overview: 'Overview',
  calls: 'Calls',
  live: 'Live',
  costs: 'Costs',
  gateway: 'Gateway',
}

/** The bar, and the view that the address names. */
export function App(): JSX.Element {
  const { address } = useNavigation()
  const isLost = useLive(({ lostSinceMs }) => lostSinceMs !== null)
  const times = useMemo(() => new Times(address.utc), [address.utc])
  const [drafts, setDrafts] = useState(noDrafts)
  const ViewOfAddress = views[address.view]
  useEffect(() => {
    document.title = `${titles[address.view]} · tokenweir`
  }, [address.view])
  return (
    <>
      <a class="skip-link" href="#main">
        Skip to content
      </a>
      <TopBar times={times} />
      <main id="main" class={`page ${isLost ? 'is-old' : ''}`} tabIndex={-1}>
        <h1 class="aside">{titles[address.view]}</h1>
        <ViewOfAddress times={times} drafts={drafts} onDrafts={setDrafts} />
      </main>
    </>
  )
}
