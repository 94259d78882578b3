import { useNavigation } from '../data/navigation.tsx'
import { againstWords } from '../data/page-address.ts'
import { useShortcuts } from '../design/keys.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/popover.tsx'

const AgainstPanel = lazyPart(async () => (await import('./against-panel.tsx')).AgainstPanel)

/** For the key that opens it. */
const menuId = 'against-menu'

/** Which earlier time is laid under the charts. */
export function AgainstMenu() {
  const { address } = useNavigation()
  const { against } = address
  useShortcuts('Filters', [
    { key: 'b', words: 'Compare with an earlier time', run: () => document.getElementById(menuId)?.click() },
  ])
  return (
    <Popover
      id={menuId}
      label="Compare with an earlier time"
      class={`filter-choice ${against === null ? '' : 'is-set'}`}
      words={against === null ? 'Compare' : againstWords[against]}
    >
      {() => <AgainstPanel />}
    </Popover>
  )
}
