import type { ComponentChildren } from 'preact'

export interface EmptyStateProps {
  readonly title?: string
  /** Buttons and links that lead on. */
  readonly actions?: ComponentChildren
  /** Why there is nothing; a paragraph, or what it takes. */
  readonly children?: ComponentChildren
}

/** In place of a list or a text that is not there. */
export function EmptyState({ title, actions, children }: EmptyStateProps) {
  return (
    <div class="nothing">
      {title !== undefined && <h3>{title}</h3>}
      {typeof children === 'string' ? <p>{children}</p> : children}
      {actions !== undefined && <div class="nothing-actions row wraps">{actions}</div>}
    </div>
  )
}
