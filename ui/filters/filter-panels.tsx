import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { Awaited } from '../design/awaited.tsx'
import { useDelayed } from '../design/use-delayed.ts'
import { count } from '../format/figures.ts'
import { CheckList, PanelFoot } from './check-list.tsx'
import {
  type Facet,
  changeTo,
  chosenOf,
  facets,
  facetsOf,
  listedValues,
  useFacet,
  useSettled,
  valueWords,
} from './facets.ts'

/** A longer list has a search field. */
const manyValues = 8
/** The most values listed. Search finds the others. */
const mostListed = 100
/** The pause in typing before the request. */
const typingMs = 200
/** Most answers come sooner than this. */
const silentMs = 300

/** The menu of facets, and the values of the chosen facet. */
export function FacetMenu() {
  const { address } = useNavigation()
  const [facet, setFacet] = useState<Facet | null>(null)
  const last = useRef<Facet | null>(null)
  const box = useRef<HTMLUListElement>(null)
  const listed = facetsOf(address)
  useEffect(() => {
    if (facet !== null) last.current = facet
    else
      box.current?.querySelectorAll('button')[
        Math.max(
          0,
          listed.findIndex((item) => item === last.current),
        )
      ]?.focus()
  }, [facet])
  if (facet !== null) return <FacetValues facet={facet} onBack={() => setFacet(null)} />
  return (
    <ul ref={box} class="menu-list">
      {listed.map((item) => {
        const chosen = chosenOf(item, address)
        return (
          <li key={item} class="row">
            <button type="button" class="row" onClick={() => setFacet(item)}>
              {facets[item].name}
              <span class="fine cut at-end">{chosen.map((value) => valueWords(item, value)).join(', ')}</span>
              <Icon name="right" size={14} />
            </button>
          </li>
        )
      })}
    </ul>
  )
}

interface FacetValuesProps {
  readonly facet: Facet
  /** Further values to list after those of the calls. */
  readonly also?: readonly string[]
  /** True if the list takes the focus when it is ready (default: true). */
  readonly takesFocus?: boolean
  /** Returns to the menu of facets, if there is one. */
  readonly onBack?: () => void
}

/** The values of a facet in the range, with their numbers of calls. */
export function FacetValues({ facet, also = [], takesFocus = true, onBack }: FacetValuesProps) {
  const { address, go } = useNavigation()
  const { name, singular, plural } = facets[facet]
  const chosen = chosenOf(facet, address)
  // Values of the address stay listed, so that they can be removed.
  const [atFirst] = useState(chosen)
  const [sought, setSought] = useState('')
  const text = sought.trim()
  // There may be too many sessions to load them all.
  const searchText = facet === 'session' ? text : ''
  // An empty text is sent at once.
  const settledText = useSettled(searchText, searchText === '' ? 0 : typingMs)
  const { answer, error, isLoading, isStale, again } = useFacet(facet, address, settledText)
  const isSlow = useDelayed(isLoading, silentMs)
  const isReady = answer !== null
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (takesFocus) box.current?.querySelector<HTMLElement>(isReady ? 'input' : 'button')?.focus()
  }, [isReady])
  const listed = isReady ? listedValues(facet, answer.values, [...atFirst, ...chosen], also, text) : []
  const hasSearch =
    isReady &&
    (answer.values.length > manyValues || also.length > manyValues || sought !== '' || answer.isCut)
  const isCut = listed.length > mostListed || answer?.isCut === true
  const isSettled = isReady && !isStale && !isLoading
  return (
    <div ref={box} class="filter-panel stack">
      {onBack !== undefined && (
        <div class="row">
          <Button kind="bare" small icon="left" label="Back to all filters" onClick={onBack} />
          <strong>{name}</strong>
        </div>
      )}
      {hasSearch && (
        <input
          type="search"
          class="field"
          placeholder={`Find ${singular}`}
          aria-label={`Find ${singular}`}
          value={sought}
          onInput={({ currentTarget }) => setSought(currentTarget.value)}
        />
      )}
      {!isLoading && <Awaited what={`the ${plural}`} error={error} again={again} />}
      {listed.length > 0 && (
        <CheckList
          choices={listed.slice(0, mostListed).map(({ value, words, calls }) => ({
            choice: value,
            words,
            note: calls === null ? undefined : count(calls),
            title: words === value ? undefined : value,
          }))}
          chosen={chosen}
          onChoose={(next) => go(changeTo(facet, next))}
          hasOnly={facet !== 'session'}
        />
      )}
      {facet === 'session' && address.q !== '' && (
        <p class="filter-panel-note quiet">The search “{address.q}” does not apply to this list.</p>
      )}
      {listed.length === 0 && isSettled && error === null && (
        <p class="filter-panel-note quiet">
          {text === '' ? `No ${plural} in these calls.` : `No ${plural} match.`}
        </p>
      )}
      {isSlow && <p class="filter-panel-note quiet">Loading…</p>}
      {isCut && isSettled && (
        <p class="filter-panel-note quiet">Only {mostListed} are listed. Search to find others.</p>
      )}
      <PanelFoot
        chosen={chosen.length === 0 ? 'All selected' : `${chosen.length} selected`}
        clear={`All ${plural}`}
        isClear={chosen.length === 0}
        onClear={() => go(changeTo(facet, []))}
      />
    </div>
  )
}
