import './find.css'
import { useEffect, useId, useState } from 'preact/hooks'
import type { SingleCall } from '../../src/api/single-call.ts'
import { useNavigation, useTimes } from '../data/navigation.tsx'
import type { CallsAnswer } from '../data/dashboard-api.ts'
import { defaultAddress } from '../data/page-address.ts'
import { type QueryState, useQuery } from '../data/use-query.ts'
import { Banner } from '../design/banner.tsx'
import { Button } from '../design/button.tsx'
import { Icon } from '../design/icon.tsx'
import { onPressBeside, useModal } from '../design/overlay/use-modal.ts'
import { type Facet, type FacetAnswer, readFacet, useFacet, useSettled } from '../filters/facets.ts'
import { counted } from '../format/figures.ts'
import {
  type FindResult,
  callIdIn,
  resultsFor,
  mayBeRequestId,
  requestIdPath,
  sessionsPath,
} from './find-results.ts'

/** The pause in typing before a request to the dashboard. */
const typingMs = 200

/** The dialog that finds calls, models, clients and sessions, and opens them. */
export function FindDialog({ onClose }: { readonly onClose: () => void }) {
  const { go } = useNavigation()
  const id = useId()
  const { leave, props } = useModal(onClose)
  const [typed, setTyped] = useState('')
  const text = typed.trim()
  const { kinds, isLoading, error } = useFindResults(text)
  /** The key of the result chosen by the arrow keys; null for the first result. */
  const [chosen, choose] = useState<string | null>(null)
  const [isEntered, enter] = useState(false)
  const all = kinds.flatMap((kind) => kind.results)
  const at = Math.max(
    0,
    all.findIndex(({ key }) => key === chosen),
  )
  const active = all[at]
  const open = ({ to }: FindResult): void => {
    leave()
    go(to)
  }
  const optionId = ({ key }: FindResult): string => `${id} ${key}`.replaceAll(/\s/g, '-')
  const move = (step: number): void => {
    const next = all.at((at + step) % all.length)
    if (next === undefined) return
    choose(next.key)
    document.getElementById(optionId(next))?.scrollIntoView({ block: 'nearest' })
  }
  const isSure = chosen !== null || callIdIn(text) !== null
  // Enter waits for the dashboard's results unless a result is certain.
  useEffect(() => {
    if (!isEntered || (isLoading && !isSure)) return
    enter(false)
    if (active !== undefined) open(active)
  }, [isEntered, isLoading])
  const steps: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => enter(true),
  }
  return (
    <dialog {...props} class="find-dialog" aria-label="Find" onClick={onPressBeside(leave)}>
      <div class="find-field row" role="search">
        <Icon name="search" size={16} />
        <input
          class="field"
          role="combobox"
          aria-label="Find calls, models, clients and sessions"
          aria-expanded={all.length > 0}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={active && optionId(active)}
          placeholder="ID, model, client, session, status or failure code"
          enterkeyhint="go"
          autocomplete="off"
          spellcheck={false}
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value)
            choose(null)
            enter(false)
          }}
          onKeyDown={(event) => {
            const step = event.isComposing ? undefined : steps[event.key]
            if (step === undefined) return
            event.preventDefault()
            step()
          }}
        />
        <Button kind="bare" icon="close" label="Close" onClick={() => leave()} />
      </div>
      {error !== null && <Banner tone="bad">{error}</Banner>}
      <div id={id} class="find-results" role="listbox" aria-label="Results" aria-busy={isLoading}>
        {kinds.map(({ name, results }) => (
          <div key={name} role="group" aria-label={name}>
            <p class="finest" aria-hidden="true">
              {name}
            </p>
            {results.map((result) => (
              <div
                key={result.key}
                id={optionId(result)}
                class="find-result row"
                role="option"
                aria-selected={result === active}
                onClick={() => open(result)}
              >
                <span class="cut" title={result.words}>
                  {result.words}
                </span>
                <span class="fine at-end">{result.note}</span>
              </div>
            ))}
          </div>
        ))}
      </div>
      <p class="find-foot finest" role="status">
        {isLoading ? 'Searching…' : all.length === 0 ? 'No results.' : `${counted(all.length, 'result')}.`}{' '}
        Limited to the page’s time range, except call IDs and sessions.
      </p>
    </dialog>
  )
}

/** Returns the search results for a text. */
function useFindResults(text: string) {
  const { address } = useNavigation()
  const times = useTimes()
  const settled = useSettled(text, typingMs)
  const models = useNames('model')
  const clients = useNames('client')
  const sessions = useQuery<FacetAnswer>(sessionsPath(settled), { read: readFacet })
  const callId = callIdIn(text)
  const call = useQuery<SingleCall>(callId === null ? null : `/api/calls/${callId}`)
  // The request reads every call of the range, so it is sent only if no name matches.
  const isNamed = [...(models.answer?.values ?? []), ...(clients.answer?.values ?? [])].some(({ value }) =>
    value.toLowerCase().includes(settled.toLowerCase()),
  )
  const isRequestId = mayBeRequestId(settled) && callIdIn(settled) === null && !isNamed
  const calls = useQuery<CallsAnswer>(isRequestId ? (nowMs) => requestIdPath(address, settled, nowMs) : null)
  const isCallAbsent = call.failure?.code === 'call_not_found'
  const queries: readonly QueryState<unknown>[] = [models, clients, sessions, ...(isRequestId ? [calls] : [])]
  const error = queries.find(({ error }) => error !== null)?.error ?? null
  return {
    kinds: resultsFor(
      text,
      address,
      {
        models: models.answer?.values ?? [],
        clients: clients.answer?.values ?? [],
        sessions: settled === text && !sessions.isStale ? (sessions.answer?.values ?? []) : [],
        call: isCallAbsent ? undefined : call.isStale ? null : call.answer,
        calls: settled === text && isRequestId && !calls.isStale ? (calls.answer?.calls ?? []) : [],
      },
      (startedMs) => times.short(startedMs),
    ),
    isLoading:
      settled !== text ||
      queries.some(({ isStale, isLoading, error }) => isLoading || (isStale && error === null)),
    error,
  }
}

/** Requests the values of a facet in the page's range, without the page's filters. */
function useNames(facet: Facet): QueryState<FacetAnswer> {
  const { range, utc } = useNavigation().address
  const unfiltered = { ...defaultAddress, range, utc }
  return useFacet(facet, unfiltered)
}
