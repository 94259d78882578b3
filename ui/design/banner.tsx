import type { ComponentChildren } from 'preact'
import { Button } from './button.tsx'

export interface BannerProps {
  /** `bad` is an error, which screen readers announce at once. */
  readonly tone?: 'warn' | 'bad'
  /** Bold text before the rest. */
  readonly title?: string
  /** Adds a button that tries again. */
  readonly onRetry?: () => void
  /** Further buttons, at the end. */
  readonly actions?: ComponentChildren
  readonly id?: string
  readonly class?: string
  /** `status` is announced when the reader pauses. */
  readonly role?: 'status'
  readonly children: ComponentChildren
}

/** A message about a part of the page. */
export function Banner(props: BannerProps) {
  const { tone, title, onRetry, actions, id, class: className, role, children } = props
  return (
    <div
      id={id}
      class={['banner row', tone, className].filter((name) => name !== undefined).join(' ')}
      role={role ?? (tone === 'bad' ? 'alert' : undefined)}
    >
      <div class="banner-words">
        {title !== undefined && <strong>{title} </strong>}
        {children}
      </div>
      {actions}
      {onRetry !== undefined && (
        <Button small onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}
