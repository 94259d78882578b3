import type { ComponentChildren } from 'preact'
import { outcomeWords } from '../data/call-text.ts'
import { type Navigation, useNavigation } from '../data/navigation.tsx'
import { type Against, againstWords } from '../data/page-address.ts'
import { Button } from '../design/button.tsx'
import { Control } from '../design/form/control.tsx'
import { type Shortcut, useShortcuts } from '../design/keys.ts'
import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/overlay/popover.tsx'
import { type Facet, chosenOf, facets, valueWords } from './facets.ts'

const FacetMenu = lazyPart(async () => (await import('./filter-panels.tsx')).FacetMenu)
const FacetValues = lazyPart(async () => (await import('./filter-panels.tsx')).FacetValues)

/** The ids of controls that keys open. */
const [modelFilterId, moreFiltersId, againstId] = ['model-filter', 'more-filters', 'against']

function press(id: string): () => void {
  return () => document.getElementById(id)?.click()
}

export interface FacetFilterProps {
  /** The facets of the menu, each with further values to list after those of the calls. */
  readonly of: Partial<Record<Facet, readonly string[]>>
  readonly label: string
  /** The text of the button while nothing is chosen. */
  readonly none: ComponentChildren
  readonly id?: string
}

/** A menu that filters by the values of one facet, or of several one below the other. */
export function FacetFilter({ of, label, none, id = '' }: FacetFilterProps) {
  const { address } = useNavigation()
  const names = Object.keys(of) as Facet[]
  const chosen = names
    .map((facet) => chosenWords(facet, chosenOf(facet, address)))
    .filter((words) => words !== '')
    .join(' · ')
  return (
    <Popover
      id={id}
      label={label}
      class={`filter-choice ${chosen === '' ? '' : 'is-set'}`}
      words={<span class="filter-choice-words cut">{chosen || none}</span>}
    >
      {() =>
        names.map((facet, at) =>
          names.length === 1 ? (
            <FacetValues key={facet} facet={facet} also={of[facet] ?? []} />
          ) : (
            <fieldset key={facet}>
              <legend class="finest">{facets[facet].name}</legend>
              <FacetValues facet={facet} also={of[facet] ?? []} takesFocus={at === 0} />
            </fieldset>
          ),
        )
      }
    </Popover>
  )
}

/** Returns a single choice by its name, several by their number; empty for none. */
function chosenWords(facet: Facet, chosen: readonly string[]): string {
  const [first] = chosen
  if (first === undefined) return ''
  return chosen.length === 1 ? valueWords(facet, first) : `${chosen.length} ${facets[facet].plural}`
}

/** The menu that filters by model. `models` are those of recorded calls. */
export function ModelFilter({ models }: { readonly models: readonly string[] }) {
  return <FacetFilter id={modelFilterId} of={{ model: models }} label="Models" none="All models" />
}

/** The menu that filters by call type and outcome. `types` are those of recorded calls. */
export function KindFilter({ types }: { readonly types: readonly string[] }) {
  return (
    <FacetFilter
      of={{ call_type: types, outcome: Object.keys(outcomeWords) }}
      label="Type and outcome"
      none={
        <>
          Type<span class="filter-more-words"> and outcome</span>
        </>
      }
    />
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

/** The choice of an earlier period for comparison. */
export function AgainstChoice() {
  const { address, go } = useNavigation()
  const run = (): void => document.getElementById(againstId)?.focus()
  useShortcuts('Filters', [{ key: 'b', words: 'Compare with an earlier period', run }])
  const periods = Object.entries(againstWords).map(
    ([name, words]) => [name, `vs. ${words.toLowerCase()}`] as const,
  )
  return (
    <Control
      id={againstId}
      class={`filter-choice ${address.against === null ? '' : 'is-set'}`}
      aria-label="Compare with an earlier period"
      value={address.against ?? ''}
      choices={[['', address.against === null ? 'Compare with' : 'No comparison'], ...periods]}
      onInput={(choice) => go({ against: choice === '' ? null : (choice as Against) })}
    />
  )
}
