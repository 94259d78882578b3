import { Button } from '../design/button.tsx'

export interface ListedChoice<Choice extends string> {
  readonly choice: Choice
  readonly words: string
  /** Muted text at the end, such as the number of calls. */
  readonly note?: string | undefined
  /** The tooltip. */
  readonly title?: string | undefined
  /** True if the choice cannot be removed. */
  readonly isFixed?: boolean
}

export interface CheckListProps<Choice extends string> {
  readonly choices: readonly ListedChoice<Choice>[]
  readonly chosen: readonly Choice[]
  readonly onChoose: (chosen: readonly Choice[]) => void
  /** True if each choice has a button that chooses it alone (default: true). */
  readonly hasOnly?: boolean
}

/** The choices of a menu. */
export function CheckList<Choice extends string>(props: CheckListProps<Choice>) {
  const { choices, chosen, onChoose, hasOnly = true } = props
  const toggle = (choice: Choice): void =>
    onChoose(chosen.includes(choice) ? chosen.filter((other) => other !== choice) : [...chosen, choice])
  return (
    <ul class="check-list">
      {choices.map(({ choice, words, note, title, isFixed = false }) => (
        <li key={choice} class="row">
          <label class="row" title={title}>
            <input
              type="checkbox"
              checked={chosen.includes(choice)}
              disabled={isFixed}
              onChange={() => toggle(choice)}
            />
            <span class="choice-words" title={words}>
              {words}
            </span>{' '}
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

export interface PanelFootProps {
  /** The current choice as a text. */
  readonly chosen?: string
  /** The text of the button that clears the choice. */
  readonly clear: string
  readonly isClear: boolean
  readonly onClear: () => void
}

/** The end of a menu, with a button that clears its choices. */
export function PanelFoot({ chosen, clear, isClear, onClear }: PanelFootProps) {
  return (
    <div class="filter-panel-foot row">
      {chosen !== undefined && (
        <span class="quiet" role="status">
          {chosen}
        </span>
      )}
      <Button kind="bare" small isOff={isClear} onClick={onClear}>
        {clear}
      </Button>
    </div>
  )
}
