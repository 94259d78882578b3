import './setting-row.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Control, type ControlProps } from './control.tsx'

export interface SettingRowProps extends ControlProps {
  /** The id of the control. The ids of its error and description begin with it. */
  readonly id: string
  /** The title, which names the control unless `label` does. */
  readonly title: ComponentChildren
  readonly label?: string
  /** Code beside the title, such as the setting's name in files. */
  readonly code?: string
  readonly unit?: string | null
  /** The value if it cannot be changed here. */
  readonly fixed?: string | null
  readonly isDisabled?: boolean
  readonly error: string | null
  /** A highlighted text, such as a change that needs a restart. */
  readonly notice?: string | null
  readonly about: string
  /** Called when the value was typed or chosen completely. */
  readonly onChange?: () => void
}

/** A setting on a line: name, control, error and description. */
export function SettingRow(props: SettingRowProps) {
  const { id, title, label, code, unit, fixed = null, isDisabled, error, notice, about, ...control } = props
  const { choices, isNumber = false } = control
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error !== null) box.current?.querySelector<HTMLElement>('.field')?.focus()
  }, [error])
  const isWide = fixed === null && !isNumber && choices === undefined
  return (
    <div class={`setting ${isWide ? 'wide' : ''}`} ref={box}>
      <div class="name row wraps">
        {label !== undefined || fixed !== null ? title : <label for={id}>{title}</label>}
        {code !== undefined && <code class="quiet">{code}</code>}
      </div>
      <div class="control row">
        {fixed === null ? (
          <Control
            {...control}
            id={id}
            disabled={isDisabled}
            aria-label={label}
            aria-describedby={`${id}-error ${id}-about`}
            aria-invalid={error === null ? undefined : 'true'}
          />
        ) : (
          <code id={id}>{fixed}</code>
        )}
        {isNumber && fixed === null && <span class="unit quiet">{unit}</span>}
      </div>
      <p id={`${id}-error`} class="bad" role="alert">
        {error}
      </p>
      <p class="notice" role="status">
        {notice}
      </p>
      <p id={`${id}-about`} class="about quiet">
        {about.split(/(--[\w-]+)/).map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}
      </p>
    </div>
  )
}
