import './check-list.css'
import type { JSX } from 'preact'

export interface CheckListProps<Choice extends string> {
  readonly choices: readonly { readonly choice: Choice; readonly words: string }[]
  readonly chosen: readonly Choice[]
  readonly onChoose: (chosen: readonly Choice[]) => void
}

/** Choices of which any number is taken, each also to be taken alone. */
export function CheckList<Choice extends string>(props: CheckListProps<Choice>): JSX.Element {
  const { choices, chosen, onChoose } = props
  const toggle = (choice: Choice): void =>
    onChoose(chosen.includes(choice) ? chosen.filter((other) => other !== choice) : [...chosen, choice])
  return (
    <ul class="check-list">
      {choices.map(({ choice, words }) => (
        <li key={choice}>
          <label>
            <input type="checkbox" checked={chosen.includes(choice)} onChange={() => toggle(choice)} />
            <span>{words}</span>
          </label>
          <button type="button" onClick={() => onChoose([choice])}>
            only<span class="aside"> {words}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
