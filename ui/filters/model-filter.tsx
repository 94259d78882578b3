import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { Popover } from '../design/popover.tsx'
import { CheckList } from './check-list.tsx'

/** More than fit into a glance. */
const manyModels = 8

/** For the key that opens it. */
export const modelFilterId = 'model-filter'

export interface ModelFilterProps {
  /** Those that the database has calls of. */
  readonly models: readonly string[]
}

/** Which models are shown. */
export function ModelFilter({ models }: ModelFilterProps): JSX.Element {
  const { address, go } = useNavigation()
  const chosen = address.models
  const [first = ''] = chosen
  const words = chosen.length === 0 ? 'All models' : chosen.length === 1 ? first : `${chosen.length} models`
  return (
    <Popover
      id={modelFilterId}
      label="Models"
      class={`filter-choice ${chosen.length > 0 ? 'is-set' : ''}`}
      words={<span class="filter-choice-words">{words}</span>}
    >
      {() => <ModelChoices models={models} chosen={chosen} onChoose={(next) => go({ models: next })} />}
    </Popover>
  )
}

interface ModelChoicesProps extends ModelFilterProps {
  readonly chosen: readonly string[]
  readonly onChoose: (models: readonly string[]) => void
}

function ModelChoices({ models, chosen, onChoose }: ModelChoicesProps): JSX.Element {
  const [sought, setSought] = useState('')
  // What the address names stays to be taken away, also where nobody asks for it any more.
  const [named] = useState(chosen)
  const known = [...new Set([...models, ...named, ...chosen])]
  const found = known.filter((model) => model.toLowerCase().includes(sought.trim().toLowerCase()))
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector('input')?.focus(), [])
  return (
    <div ref={box} class="filter-panel">
      {known.length > manyModels && (
        <input
          type="search"
          class="field"
          placeholder="Find a model"
          aria-label="Find a model"
          value={sought}
          onInput={(event) => setSought(event.currentTarget.value)}
        />
      )}
      {found.length === 0 ? (
        <p class="filter-panel-note">{known.length === 0 ? 'No models yet.' : 'No such model.'}</p>
      ) : (
        <CheckList
          choices={found.map((model) => ({ choice: model, words: model }))}
          chosen={chosen}
          onChoose={onChoose}
        />
      )}
      <div class="filter-panel-foot">
        <span class="quiet">
          {chosen.length === 0 ? 'All are shown' : `${chosen.length} of ${known.length}`}
        </span>
        <Button kind="bare" small isOff={chosen.length === 0} onClick={() => onChoose([])}>
          All models
        </Button>
      </div>
    </div>
  )
}
