import type { JSX } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type ButtonElementProps = JSX.IntrinsicElements['button']

export interface ButtonProps extends Omit<ButtonElementProps, 'class' | 'icon' | 'label' | 'onClick'> {
  /**
   * `strong` is the main button of a dialog or form. `danger` ends or removes something. `bare` has no frame
   * (default: a frame).
   */
  readonly kind?: 'strong' | 'danger' | 'bare'
  readonly small?: boolean
  /** The icon before the text, or in its place. */
  readonly icon?: IconName
  /** The name of a button with only an icon, and its default title. */
  readonly label?: string
  readonly class?: string
  /** True for a button that keeps its focus and name, but ignores presses. */
  readonly isOff?: boolean
  readonly onClick?: () => void
}

/** A button. `type="submit"` submits its form. All other attributes of a button are passed on. */
export function Button(props: ButtonProps) {
  const { kind, small = false, icon, label, class: className, isOff, onClick, children, ...rest } = props
  const hasWords = children !== undefined
  const classes = [
    'button',
    kind,
    small && 'small',
    icon !== undefined && !hasWords && 'icon',
    className,
  ].filter((name) => typeof name === 'string')
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      class={classes.join(' ')}
      aria-disabled={isOff}
      onClick={(event) => {
        if (isOff === true) event.preventDefault()
        else onClick?.()
      }}
    >
      {icon !== undefined && <Icon name={icon} size={small || hasWords ? 14 : 16} />}
      {children}
    </button>
  )
}
