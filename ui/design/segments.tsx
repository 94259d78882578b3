export interface SegmentsProps<Choice extends string> {
  /** What is chosen here, for those who do not see it. */
  readonly label: string
  /** In place of the usual look. */
  readonly class?: string
  /** What stands on each, in their order. */
  readonly words: Readonly<Record<Choice, string>>
  /** What each means, if its words do not say it. */
  readonly titles?: Readonly<Record<Choice, string>>
  /** Null where none of them is. */
  readonly chosen: Choice | null
  readonly onChoose: (choice: Choice) => void
}

/** A row of buttons of which one is pressed. */
export function Segments<Choice extends string>(props: SegmentsProps<Choice>) {
  const { label, class: className = 'segments', words, titles, chosen, onChoose } = props
  return (
    <div class={className} role="group" aria-label={label}>
      {(Object.keys(words) as Choice[]).map((choice) => (
        <button
          key={choice}
          type="button"
          title={titles?.[choice]}
          aria-pressed={choice === chosen}
          onClick={() => onChoose(choice)}
        >
          {words[choice]}
        </button>
      ))}
    </div>
  )
}
