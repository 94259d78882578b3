import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { explained } from './meanings.ts'

export interface CardProps {
  readonly title: string
  /** Small text beside the title, such as the counted thing and its unit. */
  readonly about?: ComponentChildren
  /** Buttons at the end of the head. */
  readonly actions?: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

/** A part of the page with a heading. */
export function Card({ title, about, actions, class: className = '', children }: CardProps) {
  const id = useId()
  return (
    <section class={`card ${className}`} aria-labelledby={id}>
      <div class="card-head row wraps">
        <h2 id={id} {...explained(title)}>
          {title}
        </h2>
        {about !== undefined && <span class="quiet">{about}</span>}
        {actions !== undefined && <div class="card-actions row at-end">{actions}</div>}
      </div>
      <div class="card-body">{children}</div>
    </section>
  )
}
