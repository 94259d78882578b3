export interface ControlProps {
  readonly value: string
  /** Values with their words; a text is typed where there are none. */
  readonly choices?: readonly (readonly [value: string, words: string])[] | undefined
  /** Phones show digits. */
  readonly isNumber?: boolean | undefined
  readonly hint?: string | undefined
  /** A day is chosen. */
  readonly isDay?: boolean | undefined
  readonly onInput: (value: string) => void
}

/** Attributes that a text field and a list have both. */
interface ControlAttributes {
  readonly id?: string
  readonly disabled?: boolean | undefined
  readonly 'aria-label'?: string | undefined
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: 'true' | undefined
  /** The value was typed or chosen to the end. */
  readonly onChange?: (() => void) | undefined
}

/** A value that is typed, or chosen from a list. */
export function Control(props: ControlProps & ControlAttributes) {
  const { choices, isNumber = false, isDay = false, hint, onInput, ...rest } = props
  const attributes = {
    ...rest,
    class: 'field',
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
