import type { JSX } from 'preact'
import { type CallType, type Outcome, callTypeWords, isCallType, outcomeWords } from '../data/call-words.ts'
import { useNavigation } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { Popover } from '../design/popover.tsx'
import { CheckList } from './check-list.tsx'

const outcomes = Object.keys(outcomeWords) as Outcome[]

export interface KindFilterProps {
  /** Those that the database has calls of. */
  readonly types: readonly string[]
}

/** What calls asked for, and how they ended. */
export function KindFilter({ types }: KindFilterProps): JSX.Element {
  const { address, go } = useNavigation()
  const { callTypes, outcomes: ends } = address
  const known = [...new Set([...types.filter(isCallType), ...callTypes])]
  const set = [told(callTypes, callTypeWords, 'types'), told(ends, outcomeWords, 'outcomes')].filter(
    (words) => words !== '',
  )
  return (
    <Popover
      label="Type and outcome"
      class={`filter-choice ${set.length > 0 ? 'is-set' : ''}`}
      words={
        <span class="filter-choice-words">
          {set.length > 0 ? (
            set.join(' · ')
          ) : (
            <>
              Type<span class="filter-more-words"> and outcome</span>
            </>
          )}
        </span>
      }
    >
      {() => (
        <div class="filter-panel">
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
          <div class="filter-panel-foot">
            <Button
              kind="bare"
              small
              isOff={set.length === 0}
              onClick={() => go({ callTypes: [], outcomes: [] })}
            >
              All types and outcomes
            </Button>
          </div>
        </div>
      )}
    </Popover>
  )
}

/** The only one by its name, several by their number. */
function told<Choice extends string>(
  chosen: readonly Choice[],
  words: Readonly<Record<Choice, string>>,
  many: string,
): string {
  const [first] = chosen
  if (first === undefined) return ''
  return chosen.length === 1 ? words[first] : `${chosen.length} ${many}`
}
