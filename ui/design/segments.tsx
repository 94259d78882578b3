import type { JSX } from 'preact'

export interface SegmentsProps<Choice extends string> {
  /** What is chosen here, for those who do not see it. */
  readonly label: string
  readonly choices: readonly { readonly choice: Choice; readonly words: string; readonly title?: string }[]
  /** Null where none of them is. */
  readonly chosen: Choice | null
  readonly onChoose: (choice: Choice) => void
}

/** A row of buttons of which one is pressed. */
export function Segments<Choice extends string>(props: SegmentsProps<Choice>): JSX.Element {
  const { label, choices, chosen, onChoose } = props
  return (
    <div class="segments" role="group" aria-label={label}>
      {choices.map(({ choice, words, title }) => (
        <button
          key={choice}
          type="button"
          title={title}
          aria-pressed={choice === chosen}
          onClick={() => onChoose(choice)}
        >
          {words}
        </button>
      ))}
    </div>
  )
}
