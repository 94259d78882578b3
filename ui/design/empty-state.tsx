import type { ComponentChildren } from 'preact'

export interface EmptyStateProps {
  readonly title?: string
  /** Buttons and links for the next step. */
  readonly actions?: ComponentChildren
  /** The reason, as a paragraph or other content. */
  readonly children?: ComponentChildren
}

/** The text in place of a missing list or text. */
export function EmptyState({ title, actions, children }: EmptyStateProps) {
  return (
    <div class="nothing stack">
      {title !== undefined && <h3>{title}</h3>}
      {typeof children === 'string' ? <p>{children}</p> : children}
      {actions !== undefined && <div class="nothing-actions row wraps">{actions}</div>}
    </div>
  )
}
