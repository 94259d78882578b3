export interface SegmentsProps<Choice extends string> {
  /** The accessible name of the group. */
  readonly label: string
  /** A class in place of the default one. */
  readonly class?: string
  /** The texts of the choices, in order. */
  readonly words: Readonly<Record<Choice, string>>
  /** The tooltip of each choice. */
  readonly titles?: Readonly<Record<Choice, string>>
  /** The choice; null for none. */
  readonly chosen: Choice | null
  readonly onChoose: (choice: Choice) => void
}

/** A row of buttons, one of which is pressed. */
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
