import type { JSX } from 'preact'
import { useNavigation } from '../data/navigation.tsx'
import { useAnswer } from '../data/use-answer.ts'
import { Popover } from '../design/popover.tsx'
import { CheckList } from '../filters/check-list.tsx'
import { count } from '../format/figures.ts'
import { facetPath, listedBounds } from './calls-question.ts'
import { failureCodeWords } from '../data/failure-words.ts'
import { nowMs } from '../data/dashboard-clock.ts'

export type Facet = 'client' | 'failure_code'

export interface FacetMenuProps {
  readonly facet: Facet
}

const words = { client: 'Client', failure_code: 'Failure' } as const

/** Chooses clients, or ways to fail, from those that the range has: they are asked for when it opens. */
export function FacetMenu({ facet }: FacetMenuProps): JSX.Element {
  const { address } = useNavigation()
  const chosen = facet === 'client' ? address.clients : address.failureCodes
  return (
    <Popover
      label={`${words[facet]}s`}
      words={chosen.length === 0 ? words[facet] : `${words[facet]} · ${chosen.length}`}
      class={chosen.length === 0 ? '' : 'is-set'}
    >
      {() => <FacetList facet={facet} />}
    </Popover>
  )
}

function FacetList({ facet }: FacetMenuProps): JSX.Element {
  const { address, go } = useNavigation()
  const path = facetPath(address, listedBounds(address, nowMs()), facet)
  const { answer, trouble } = useAnswer<FacetAnswer>(facet, () => path, { everyMs: null })
  const chosen: readonly string[] = facet === 'client' ? address.clients : address.failureCodes
  const groups = (answer?.groups ?? []).filter(
    (group): group is FacetGroup & { key: string } => group.key !== null,
  )
  const missing = chosen.filter((key) => !groups.some((group) => group.key === key))
  const rows = [...missing.map((key) => ({ key, calls: null })), ...groups.slice(0, 40)]
  if (answer === null) return <p class="filter-panel-note">{trouble ?? 'Counting…'}</p>
  if (rows.length === 0) {
    return (
      <p class="filter-panel-note">
        {facet === 'client' ? 'No call in this range.' : 'No call failed in this range.'}
      </p>
    )
  }
  return (
    <CheckList
      choices={rows.map(({ key, calls }) => ({
        choice: key,
        words: facet === 'client' ? key : failureCodeWords(key),
        note: calls === null ? undefined : count(calls),
        title: key,
      }))}
      chosen={chosen}
      onChoose={(next) => go(facet === 'client' ? { clients: next } : { failureCodes: next })}
    />
  )
}

interface FacetGroup {
  readonly key: string | null
  readonly calls: number
}

interface FacetAnswer {
  readonly groups?: readonly FacetGroup[]
}
