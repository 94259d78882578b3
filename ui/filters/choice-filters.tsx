import { callTypeWords, outcomeWords } from '../data/call-text.ts'
import { type Navigation, useNavigation } from '../data/navigation.tsx'
import { againstWords } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { type Shortcut, useShortcuts } from '../design/keys.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/overlay/popover.tsx'

const FacetMenu = lazyPart(async () => (await import('./filter-panels.tsx')).FacetMenu)
const FacetValues = lazyPart(async () => (await import('./filter-panels.tsx')).FacetValues)
const KindPanel = lazyPart(async () => (await import('./filter-panels.tsx')).KindPanel)
const AgainstPanel = lazyPart(async () => (await import('./filter-panels.tsx')).AgainstPanel)

/** The ids of menus that keys open. */
const [modelFilterId, moreFiltersId, againstMenuId] = ['model-filter', 'more-filters', 'against-menu']

function press(id: string): () => void {
  return () => document.getElementById(id)?.click()
}

export interface ModelFilterProps {
  /** The models of recorded calls. */
  readonly models: readonly string[]
}

/** The menu that filters by model. */
export function ModelFilter({ models }: ModelFilterProps) {
  const chosen = useNavigation().address.models
  return (
    <Popover
      id={modelFilterId}
      label="Models"
      class={choiceClass(chosen.length > 0)}
      words={<span class="filter-choice-words cut">{numberOf(chosen, 'models') || 'All models'}</span>}
    >
      {() => <FacetValues facet="model" also={models} />}
    </Popover>
  )
}

/** The button that shows only failed calls. */
export function ErrorsFilter() {
  const { address, go } = useNavigation()
  return (
    <Button
      class="filter-errors"
      aria-pressed={address.errorsOnly}
      onClick={() => go({ errorsOnly: !address.errorsOnly })}
    >
      Errors only
    </Button>
  )
}

/** The key of the menu of further filters. */
export const moreFiltersKey: Shortcut = { key: 'f', words: 'More filters', run: press(moreFiltersId) }

/** Returns the keys of the filters for models and errors. */
export function filterKeys({ address, go }: Navigation): readonly Shortcut[] {
  return [
    { key: 'm', words: 'Choose models', run: press(modelFilterId) },
    { key: 'e', words: 'Errors only', run: () => go({ errorsOnly: !address.errorsOnly }) },
  ]
}

/** The menu that filters by call type and outcome. `types` has the types of recorded calls. */
export function KindFilter({ types }: { readonly types: readonly string[] }) {
  const { callTypes, outcomes } = useNavigation().address
  const set = [numberOf(callTypes, 'types', callTypeWords), numberOf(outcomes, 'outcomes', outcomeWords)]
    .filter((words) => words !== '')
    .join(' · ')
  return (
    <Popover
      label="Type and outcome"
      class={choiceClass(set !== '')}
      words={
        <span class="filter-choice-words cut">
          {set || 'Type'}
          {set === '' && <span class="filter-more-words"> and outcome</span>}
        </span>
      }
    >
      {() => <KindPanel types={types} />}
    </Popover>
  )
}

/** The menu of less frequent filters: clients, sessions, statuses and others. */
export function MoreFilters() {
  return (
    <Popover
      id={moreFiltersId}
      label="More filters"
      // The menu has room for a session's name on one line.
      widthPx={352}
      words={
        <span>
          More<span class="filter-more-words"> filters</span>
        </span>
      }
    >
      {() => <FacetMenu />}
    </Popover>
  )
}

/** The menu of earlier periods for comparison. */
export function AgainstMenu() {
  const { against } = useNavigation().address
  useShortcuts('Filters', [{ key: 'b', words: 'Compare with an earlier period', run: press(againstMenuId) }])
  return (
    <Popover
      id={againstMenuId}
      label="Compare with an earlier period"
      class={choiceClass(against !== null)}
      words={
        <span class="cut">
          {against === null ? 'Compare with' : `vs. ${againstWords[against].toLowerCase()}`}
        </span>
      }
    >
      {() => <AgainstPanel />}
    </Popover>
  )
}

function choiceClass(isSet: boolean): string {
  return `filter-choice ${isSet ? 'is-set' : ''}`
}

/** Returns a single choice by its name, several by their number; empty for none. */
function numberOf<Choice extends string>(
  chosen: readonly Choice[],
  many: string,
  words?: Readonly<Record<Choice, string>>,
): string {
  const [first] = chosen
  if (first === undefined) return ''
  return chosen.length === 1 ? (words?.[first] ?? first) : `${chosen.length} ${many}`
}
