import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { Button } from '../design/button.tsx'
import { useShortcuts } from '../design/keys.ts'
import { SearchField } from '../design/search-field.tsx'
import { ErrorsFilter, ModelFilter, filterKeys } from '../filters/choice-filters.tsx'

/** All that is held is searched when somebody has stopped typing for so long. */
const typingMs = 200

export interface LiveToolsProps {
  readonly models: readonly string[]
  readonly canClear: boolean
  readonly onClear: () => void
}

/** Filters the calls of the feed. All that is chosen here stands in the address. */
export function LiveTools({ models, canClear, onClear }: LiveToolsProps): JSX.Element {
  const navigation = useNavigation()
  const { address, go, amend } = navigation
  const [text, setText] = useState(address.text)
  useEffect(() => setText(address.text), [address.text])
  useEffect(() => {
    if (text === address.text) return
    const timer = setTimeout(() => amend({ text }), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  useShortcuts('Live', filterKeys(navigation))
  const isFiltered = address.text !== '' || address.errorsOnly || address.models.length > 0
  return (
    <div class="live-tools" role="group" aria-label="Which calls are shown">
      <SearchField
        label="Find in payloads"
        placeholder="Find in payloads"
        value={text}
        onValue={setText}
        keysTitle="Live"
      />
      <ModelFilter models={models} />
      <ErrorsFilter />
      {isFiltered && (
        <Button kind="bare" onClick={() => go({ text: '', errorsOnly: false, models: [] })}>
          Clear all
        </Button>
      )}
      <Button
        kind="bare"
        class="at-end"
        isOff={!canClear}
        title="Takes the calls that have ended off this page. What is recorded stays."
        onClick={onClear}
      >
        Empty list
      </Button>
    </div>
  )
}
