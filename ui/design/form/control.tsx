export interface ControlProps {
  readonly value: string
  /** The values of a list with their texts. Without choices, the control is a text field. */
  readonly choices?: readonly (readonly [value: string, words: string])[] | undefined
  /** True if phones should show digits. */
  readonly isNumber?: boolean | undefined
  readonly hint?: string | undefined
  /** True for a date. */
  readonly isDay?: boolean | undefined
  readonly onInput: (value: string) => void
}

/** The attributes of both a text field and a list. */
interface ControlAttributes {
  readonly id?: string
  readonly class?: string
  readonly disabled?: boolean | undefined
  readonly 'aria-label'?: string | undefined
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: 'true' | undefined
  /** Called when the value was typed or chosen completely. */
  readonly onChange?: (() => void) | undefined
}

/** A text field, or a list to choose from. */
export function Control(props: ControlProps & ControlAttributes) {
  const { choices, isNumber = false, isDay = false, hint, class: className = '', onInput, ...rest } = props
  const attributes = {
    ...rest,
    class: `field ${className}`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onInput(currentTarget.value),
  }
  if (isDay) return <input {...attributes} type="date" />
  return choices === undefined ? (
    <input
      {...attributes}
      type="text"
      inputMode={isNumber ? 'decimal' : undefined}
      autocomplete="off"
      spellcheck={false}
      placeholder={hint}
    />
  ) : (
    <select {...attributes}>
      {choices.map(([choice, words]) => (
        <option key={choice} value={choice} selected={choice === props.value}>
          {words}
        </option>
      ))}
    </select>
  )
}
