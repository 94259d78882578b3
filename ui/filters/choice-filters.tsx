import { useEffect, useRef, useState } from 'preact/hooks'
import { type CallType, type Outcome, callTypeWords, isCallType, outcomeWords } from '../data/call-words.ts'
import { type Navigation, useNavigation } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import type { Shortcut } from '../design/keys.ts'
import { Popover } from '../design/popover.tsx'
import { CheckList } from './check-list.tsx'
import { PanelFoot } from './panel-foot.tsx'

/** More than fit into a glance. */
const manyModels = 8

/** For the key that opens it. */
const modelFilterId = 'model-filter'

const outcomes = Object.keys(outcomeWords) as Outcome[]

export interface ModelFilterProps {
  /** Those that the database has calls of. */
  readonly models: readonly string[]
}

/** Which models are shown. */
export function ModelFilter({ models }: ModelFilterProps) {
  const chosen = useNavigation().address.models
  return (
    <Popover
      id={modelFilterId}
      label="Models"
      class={choiceClass(chosen.length > 0)}
      words={<span class="filter-choice-words cut">{numberOf(chosen, 'models') || 'All models'}</span>}
    >
      {() => <ModelChoices models={models} />}
    </Popover>
  )
}

function ModelChoices({ models }: ModelFilterProps) {
  const { address, go } = useNavigation()
  const chosen = address.models
  const onChoose = (models: readonly string[]): void => go({ models })
  const [sought, setSought] = useState('')
  // What the address names stays to be taken away, also if nobody asks for it any more.
  const [named] = useState(chosen)
  const known = [...new Set([...models, ...named, ...chosen])]
  const found = known.filter((model) => model.toLowerCase().includes(sought.trim().toLowerCase()))
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector('input')?.focus(), [])
  return (
    <div ref={box} class="filter-panel stack">
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
      <PanelFoot clear="All models" isClear={chosen.length === 0} onClear={() => onChoose([])}>
        <span class="quiet">
          {chosen.length === 0 ? 'All are shown' : `${chosen.length} of ${known.length}`}
        </span>
      </PanelFoot>
    </div>
  )
}

/** Shows failed calls alone. */
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

/** The keys of the filters for models and errors. */
export function filterKeys({ address, go }: Navigation): readonly Shortcut[] {
  return [
    { key: 'm', words: 'Choose models', run: () => document.getElementById(modelFilterId)?.click() },
    { key: 'e', words: 'Errors only', run: () => go({ errorsOnly: !address.errorsOnly }) },
  ]
}

/** What calls asked for, and how they ended; `types` are those that the database has calls of. */
export function KindFilter({ types }: { readonly types: readonly string[] }) {
  const { address, go } = useNavigation()
  const { callTypes, outcomes: ends } = address
  const known = [...new Set([...types.filter(isCallType), ...callTypes])]
  const set = [numberOf(callTypes, 'types', callTypeWords), numberOf(ends, 'outcomes', outcomeWords)]
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
      {() => (
        <div class="filter-panel stack">
          {known.length > 0 && (
            <fieldset>
              <legend>Type</legend>
              <CheckList<CallType>
                choices={known.map((type) => ({ choice: type, words: callTypeWords[type] }))}
                chosen={callTypes}
                onChoose={(chosen) => go({ callTypes: chosen })}
              />
            </fieldset>
          )}
          <fieldset>
            <legend>Outcome</legend>
            <CheckList<Outcome>
              choices={outcomes.map((outcome) => ({ choice: outcome, words: outcomeWords[outcome] }))}
              chosen={ends}
              onChoose={(chosen) => go({ outcomes: chosen })}
            />
          </fieldset>
          <PanelFoot
            clear="All types and outcomes"
            isClear={set === ''}
            onClear={() => go({ callTypes: [], outcomes: [] })}
          />
        </div>
      )}
    </Popover>
  )
}

function choiceClass(isSet: boolean): string {
  return `filter-choice ${isSet ? 'is-set' : ''}`
}

/** The only one by its name, several by their number; empty for none. */
function numberOf<Choice extends string>(
  chosen: readonly Choice[],
  many: string,
  words?: Readonly<Record<Choice, string>>,
): string {
  const [first] = chosen
  if (first === undefined) return ''
  return chosen.length === 1 ? (words?.[first] ?? first) : `${chosen.length} ${many}`
}
