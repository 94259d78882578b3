import './editor.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { act } from '../../data/dashboard-api.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../button.tsx'
import { ConfirmButton, type Question } from '../overlay/confirm.tsx'
import { Control, type ControlProps } from '../form/control.tsx'
import { type Draft, isChangedElsewhere, typedInto } from '../form/draft.ts'

type ValueOf<Name extends string> = (name: Name) => string

/** A field of a form, with its initial value. */
export interface FormField<Name extends string> extends Omit<ControlProps, 'onInput'> {
  readonly name: Name
  readonly label: string
  /** True if the field is collapsed until it is needed. */
  readonly isMore?: boolean
  /** Returns true if the values of other fields need this field. */
  readonly isShown?: (valueOf: ValueOf<Name>) => boolean
}

/** The form of a row, whose fields are saved by one request. */
export interface RowForm<Name extends string> {
  readonly label: string
  readonly fields: readonly FormField<Name>[]
  readonly note?: (valueOf: ValueOf<Name>) => ComponentChildren
  /** Returns the request that saves the values, the error in the values, or the errors by field. */
  readonly save: (
    valueOf: ValueOf<Name>,
  ) => string | Errors<Name> | { readonly path: string; readonly body: object }
  /** Tests the values without saving them, and returns the result as text. */
  readonly test?: (valueOf: ValueOf<Name>) => Promise<string>
  readonly remove?: { readonly path: string; readonly question: Question }
}

interface Errors<Name extends string> {
  readonly errors: Readonly<Partial<Record<Name, string>>>
}

export interface EditorProps<Answer, Name extends string> {
  readonly form: RowForm<Name>
  readonly onSaved: (answer: Answer) => void
  readonly onLeave: () => void
}

/** The form that changes a row, below the row or in its place. */
export function Editor<Answer, Name extends string>({ form, onSaved, onLeave }: EditorProps<Answer, Name>) {
  const { label, fields, note, save, test, remove } = form
  const id = useId()
  const box = useRef<HTMLFormElement>(null)
  const [drafts, setDrafts] = useState<Partial<Record<Name, Draft>>>({})
  const [wrong, setWrong] = useState<string | Errors<Name>>('')
  const { run, error, isBusy } = useAction()
  const testing = useAction()
  const [tested, setTested] = useState('')
  const elsewhere = fields.filter(({ name, value }) => isChangedElsewhere(drafts[name], value))
  const valueOf = (name: Name): string =>
    drafts[name]?.text ?? fields.find((field) => field.name === name)?.value ?? ''
  const errorOf = (name: Name): string | undefined =>
    (typeof wrong === 'string' ? undefined : wrong.errors[name]) ??
    (error?.param === name ? error.message : undefined)
  useEffect(() => box.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus(), [wrong, error])
  // The focus moves into the form, and later back to the button that opened it.
  useLayoutEffect(() => {
    const [opener, inside] = [document.activeElement, box.current]
    inside?.querySelector<HTMLElement>('.field')?.focus()
    return () => {
      if (inside?.contains(document.activeElement) === true && opener instanceof HTMLElement) opener.focus()
    }
  }, [])
  const submit = (): void => {
    const request = save(valueOf)
    const isRequest = typeof request === 'object' && 'path' in request
    setWrong(isRequest ? '' : request)
    if (isRequest) void run(async () => onSaved(await act('PUT', request.path, request.body)))
  }
  const shown = fields.filter(({ isShown }) => isShown?.(valueOf) ?? true)
  const more = shown.filter(({ isMore }) => isMore === true)
  const field = ({ label, name, value, choices, isNumber, isDay, hint }: FormField<Name>) => {
    const error = errorOf(name)
    const fieldId = `${id}-${name}`
    return (
      <div key={name} class="editor-field">
        <label for={fieldId}>{label}</label>
        <Control
          {...{ choices, isNumber, isDay, hint }}
          id={fieldId}
          value={valueOf(name)}
          aria-invalid={error === undefined ? undefined : 'true'}
          aria-describedby={`${fieldId}-error`}
          onInput={(text) => setDrafts({ ...drafts, [name]: typedInto(drafts[name], text, value) })}
        />
        <span id={`${fieldId}-error`} class="bad">
          {error}
        </span>
      </div>
    )
  }
  const isOfField = fields.some(({ name }) => name === error?.param)
  return (
    <form
      ref={box}
      class="editor row wraps"
      noValidate
      aria-label={label}
      onKeyDown={({ key, target }) => {
        // Escape in the question before a removal closes only the question.
        if (key === 'Escape' && (target as Element).closest('dialog') === null) onLeave()
      }}
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      {shown.filter(({ isMore }) => isMore !== true).map(field)}
      {more.length > 0 && (
        <details open={more.some(({ name, value }) => value !== '' || errorOf(name) !== undefined)}>
          <summary>More</summary>
          <div class="editor row wraps">{more.map(field)}</div>
        </details>
      )}
      {note !== undefined && <div class="fine">{note(valueOf)}</div>}
      {elsewhere.length > 0 && (
        <p class="fine" role="status">
          Changed elsewhere:{' '}
          {elsewhere.map(({ label, value }) => `${label} ${value === '' ? 'none' : value}`).join(', ')}.
          Saving replaces it.
        </p>
      )}
      <div class="buttons row wraps">
        <Button type="submit" kind="strong" small isOff={isBusy}>
          Save
        </Button>
        <Button small onClick={onLeave}>
          Cancel
        </Button>
        {test !== undefined && (
          <Button
            small
            isOff={testing.isBusy}
            onClick={() => void testing.run(async () => setTested(await test(valueOf)))}
          >
            {testing.isBusy ? 'Testing…' : 'Test'}
          </Button>
        )}
        {remove !== undefined && (
          <ConfirmButton
            small
            isOff={isBusy}
            question={remove.question}
            onYes={() => void run(async () => onSaved(await act('DELETE', remove.path)))}
          >
            Remove
          </ConfirmButton>
        )}
      </div>
      {test !== undefined && (
        <p class={testing.error === null ? 'quiet' : 'bad'} role="status">
          {testing.isBusy ? '' : (testing.error?.message ?? tested)}
        </p>
      )}
      <p class="bad" role="alert">
        {typeof wrong === 'string' && wrong !== '' ? wrong : isOfField ? '' : error?.message}
      </p>
    </form>
  )
}
