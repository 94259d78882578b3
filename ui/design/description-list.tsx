import type { ComponentChildren } from 'preact'

/** A name and its value; null leaves it out. */
export type Fact = readonly [name: ComponentChildren, value: ComponentChildren]

export interface DescriptionListProps {
  readonly class: string
  readonly facts: readonly Fact[]
}

/** Names and values, one below the other or side by side as the class has it. */
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
