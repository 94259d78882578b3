import './call-tabs.css'
import type { JSX } from 'preact'
import { type CallTab, callTabWords } from '../data/call-words.ts'
import { useShortcuts } from '../design/keys.ts'
import type { EndedCall } from '../data/failure-words.ts'

const allTabs = Object.keys(callTabWords) as CallTab[]

/** What the panel of a call can show: of its error only where there is one. */
export function tabsOf(ended: EndedCall | null): readonly CallTab[] {
  return allTabs.filter((tab) => tab !== 'error' || (ended !== null && ended.outcome !== 'ok'))
}

export interface CallTabsProps {
  readonly tabs: readonly CallTab[]
  readonly chosen: CallTab
  readonly onChoose: (tab: CallTab) => void
}

/** Which side of the call the panel shows. */
export function CallTabs({ tabs, chosen, onChoose }: CallTabsProps): JSX.Element {
  useShortcuts(
    'Call panel',
    tabs.map((tab, at) => ({ key: String(at + 1), words: callTabWords[tab], run: () => onChoose(tab) })),
    { isInDialog: true },
  )
  return (
    <div class="call-tabs" role="group" aria-label="What of the call is shown">
      {tabs.map((tab, at) => (
        <button
          key={tab}
          type="button"
          title={`Key ${at + 1}`}
          aria-pressed={tab === chosen}
          onClick={() => onChoose(tab)}
        >
          {callTabWords[tab]}
        </button>
      ))}
    </div>
  )
}
