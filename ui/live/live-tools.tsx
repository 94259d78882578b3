import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { ModelFilter, modelFilterId } from '../filters/choice-filters.tsx'
import { useShortcuts } from '../design/keys.ts'

/** All that is held is looked through when somebody has stopped typing for so long. */
const typingMs = 200

export interface LiveToolsProps {
  readonly models: readonly string[]
  readonly canClear: boolean
  readonly onClear: () => void
}

/** Which calls of the feed are shown. All that is chosen here stands in the address. */
export function LiveTools({ models, canClear, onClear }: LiveToolsProps): JSX.Element {
  const { address, go, amend } = useNavigation()
  const [text, setText] = useState(address.text)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(address.text), [address.text])
  useEffect(() => {
    if (text === address.text) return
    const timer = setTimeout(() => amend({ text }), typingMs)
    return () => clearTimeout(timer)
  }, [text])
  useShortcuts('Live', [
    { key: '/', words: 'Find in payloads', run: () => field.current?.focus() },
    { key: 'm', words: 'Choose models', run: () => document.getElementById(modelFilterId)?.click() },
    { key: 'e', words: 'Errors only', run: () => go({ errorsOnly: !address.errorsOnly }) },
  ])
  const isFiltered = address.text !== '' || address.errorsOnly || address.models.length > 0
  return (
    <div class="live-tools" role="group" aria-label="Which calls are shown">
      <div class="call-search">
        <Icon name="search" size={14} />
        <input
          ref={field}
          class="field"
          type="search"
          autocomplete="off"
          spellcheck={false}
          aria-label="Find in payloads"
          placeholder="Find in payloads"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && text === '') field.current?.blur()
          }}
        />
      </div>
      <ModelFilter models={models} />
      <button
        type="button"
        class="button filter-errors"
        aria-pressed={address.errorsOnly}
        onClick={() => go({ errorsOnly: !address.errorsOnly })}
      >
        Errors only
      </button>
      {isFiltered && (
        <button
          type="button"
          class="button bare"
          onClick={() => go({ text: '', errorsOnly: false, models: [] })}
        >
          Clear all
        </button>
      )}
      <button
        type="button"
        class="button bare at-end"
        aria-disabled={!canClear}
        title="Takes the calls that have ended off this page. What is recorded stays."
        onClick={() => canClear && onClear()}
      >
        Empty list
      </button>
    </div>
  )
}
