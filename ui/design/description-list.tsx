import type { ComponentChildren } from 'preact'

/** A name and its value; null leaves the pair out. */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren]

export interface DescriptionListProps {
  readonly class: string
  readonly facts: readonly Fact[]
}

/** A list of names and values. The class sets the layout. */
export function DescriptionList({ class: className, facts }: DescriptionListProps) {
  return (
    <dl class={className}>
      {facts.map(
        ([name, value], at) =>
          value !== null && (
            <div key={at}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
