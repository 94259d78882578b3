import type { JSX } from 'preact'
import { type CallSort, isCallSort, sortWords } from '../data/call-words.ts'
import { useNavigation } from '../data/navigation.tsx'
import { Segments } from '../design/segments.tsx'

const choices: readonly { readonly choice: CallSort; readonly words: string; readonly title: string }[] = [
  { choice: 'started_at', words: 'Newest', title: 'The newest first' },
  { choice: 'duration', words: 'Slowest', title: 'Those that took longest first' },
  { choice: 'ttft', words: 'First token', title: 'Those that waited longest for the first token first' },
  { choice: 'cost', words: 'Cost', title: 'The dearest first' },
]

export interface SortChoiceProps {
  readonly isNarrow: boolean
}

/** What the calls are sorted by. */
export function SortChoice({ isNarrow }: SortChoiceProps): JSX.Element {
  const { address, go } = useNavigation()
  if (!isNarrow) {
    return (
      <Segments label="Order" choices={choices} chosen={address.sort} onChoose={(sort) => go({ sort })} />
    )
  }
  return (
    <select
      class="field"
      aria-label="Order"
      value={address.sort}
      onChange={({ currentTarget: { value } }) => {
        if (isCallSort(value)) go({ sort: value })
      }}
    >
      {choices.map(({ choice }) => (
        <option key={choice} value={choice}>
          {sortWords[choice]}
        </option>
      ))}
    </select>
  )
}
