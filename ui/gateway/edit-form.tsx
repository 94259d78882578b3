import type { ComponentChildren } from 'preact'
import { Button } from '../design/button.tsx'

interface EditFormProps {
  /** Names the form: of what it changes. */
  readonly label: string
  readonly isBusy: boolean
  /** Why it was not saved. */
  readonly wrong: string | undefined
  readonly onSave: () => void
  readonly onLeave: () => void
  /** Further buttons, after those that save and leave. */
  readonly more?: ComponentChildren
  readonly children: ComponentChildren
}

/** Fields that are saved together, or left as they were. */
export function EditForm({ label, isBusy, wrong, onSave, onLeave, more, children }: EditFormProps) {
  return (
    <form
      noValidate
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault()
        onSave()
      }}
    >
      {children}
      <div class="buttons">
        <Button type="submit" kind="strong" small isOff={isBusy}>
          Save
        </Button>
        <Button small onClick={onLeave}>
          Cancel
        </Button>
        {more}
      </div>
      <p class="bad" role="alert">
        {wrong}
      </p>
    </form>
  )
}

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
