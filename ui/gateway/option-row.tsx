import { useEffect, useRef } from 'preact/hooks'
import type { ConfigOption } from '../../src/api/proxy-config.ts'
import {
  choicesOf,
  editable,
  isSame,
  optionTitle,
  rangeWords,
  sentence,
  shownValue,
  sourceWords,
} from './option-words.ts'

export interface OptionRowProps {
  readonly option: ConfigOption
  /** The text that was typed; null if none was. */
  readonly draft: string | null
  /** The error in it. */
  readonly trouble: string | null
  readonly needsRestart: boolean
  readonly onDraft: (draft: string) => void
}

/** One option that can be changed on the page, unless something else has fixed it. */
export function OptionRow({ option, draft, trouble, needsRestart, onDraft }: OptionRowProps) {
  const { name, kind, unit, running, fixed_by: fixedBy } = option
  const id = `option-${name}`
  const choices = choicesOf(option)
  const isFixed = fixedBy !== null
  const isNumber = kind === 'number'
  const wide = !isFixed && !isNumber && choices === null
  const field = useRef<HTMLInputElement & HTMLSelectElement>(null)
  useEffect(() => {
    if (trouble !== null) field.current?.focus()
  }, [trouble])
  const attributes = {
    ref: field,
    id,
    class: 'field',
    value: draft ?? editable(option),
    'aria-describedby': `${id}-trouble ${id}-about`,
    'aria-invalid': trouble === null ? undefined : ('true' as const),
    onInput: ({ currentTarget }: { currentTarget: { value: string } }) => onDraft(currentTarget.value),
  }
  return (
    <div class={`option-row ${wide ? 'wide' : ''} ${isFixed ? 'fixed' : ''}`}>
      <div class="name">
        {isFixed ? (
          <span class="title">{optionTitle(name)}</span>
        ) : (
          <label for={id}>{optionTitle(name)}</label>
        )}
        <code class="quiet">{name}</code>
      </div>
      <div class="control row">
        {isFixed ? (
          <code id={id}>{shownValue(option)}</code>
        ) : choices !== null ? (
          <select {...attributes}>
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        ) : (
          <>
            <input
              {...attributes}
              type="text"
              inputMode={isNumber ? 'numeric' : undefined}
              autocomplete="off"
              spellcheck={false}
            />
            {isNumber && <span class="unit quiet">{unit}</span>}
          </>
        )}
      </div>
      <p id={`${id}-trouble`} class="bad" role="alert">
        {trouble}
      </p>
      {needsRestart && running !== null && (
        <p class="pending">The running gateway has {shownValue(option, running)}: restart to apply.</p>
      )}
      <p id={`${id}-about`} class="about quiet">
        {aboutWords(option)}
      </p>
    </div>
  )
}

function aboutWords(option: ConfigOption): string {
  const { description, changes, value, default: usual, fixed_by: fixedBy } = option
  const from = sourceWords(option)
  if (fixedBy !== null) return `${sentence(description)} ${from}`
  const effect = changes === 'live' ? 'Changes at once.' : 'Changes with a restart.'
  const byDefault = isSame(value, usual) ? '' : `The default is ${shownValue(option, usual)}.`
  return [sentence(description), rangeWords(option), effect, from, byDefault]
    .filter((part) => part !== '')
    .join(' ')
}
