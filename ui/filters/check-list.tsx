export interface ListedChoice<Choice extends string> {
  readonly choice: Choice
  readonly words: string
  /** In a quieter voice at the end: how many there are. */
  readonly note?: string | undefined
  /** What it means. */
  readonly title?: string | undefined
  /** Cannot be taken away. */
  readonly isFixed?: boolean
}

export interface CheckListProps<Choice extends string> {
  readonly choices: readonly ListedChoice<Choice>[]
  readonly chosen: readonly Choice[]
  readonly onChoose: (chosen: readonly Choice[]) => void
  /** Whether each can be taken alone. */
  readonly hasOnly?: boolean
}

/** Choices of which any number is taken. */
export function CheckList<Choice extends string>(props: CheckListProps<Choice>) {
  const { choices, chosen, onChoose, hasOnly = true } = props
  const toggle = (choice: Choice): void =>
    onChoose(chosen.includes(choice) ? chosen.filter((other) => other !== choice) : [...chosen, choice])
  return (
    <ul class="check-list">
      {choices.map(({ choice, words, note, title, isFixed = false }) => (
        <li key={choice}>
          <label title={title}>
            <input
              type="checkbox"
              checked={chosen.includes(choice)}
              disabled={isFixed}
              onChange={() => toggle(choice)}
            />
            <span>{words}</span>
            {note !== undefined && <span class="note-of-choice fine at-end">{note}</span>}
          </label>
          {hasOnly && (
            <button type="button" onClick={() => onChoose([choice])}>
              only<span class="aside"> {words}</span>
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}
