interface FieldProps {
  readonly label: string
  readonly value: string
  readonly hint: string
  readonly isNumber?: boolean
  readonly onInput: (value: string) => void
}

/** A line of text in a form, its label above it. */
export function Field({ label, value, hint, isNumber = false, onInput }: FieldProps) {
  return (
    <label>
      <span>{label}</span>
      <input
        class="field"
        type="text"
        inputMode={isNumber ? 'numeric' : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={hint}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </label>
  )
}
