import { Control } from '../form/control.tsx'

export interface OrderSelectProps<Name extends string> {
  /** For each order, names of its directions: largest first, and smallest first if possible. */
  readonly words: Readonly<Record<Name, readonly string[]>>
  readonly order: Name
  readonly rising: boolean
  readonly class?: string
  readonly onOrder: (order: Name, rising: boolean) => void
}

/** A list that chooses the order, where headings have no room. */
export function OrderSelect<Name extends string>(props: OrderSelectProps<Name>) {
  const { words, order, rising, class: className = '', onOrder } = props
  const names = Object.keys(words) as Name[]
  return (
    <Control
      class={className}
      aria-label="Order"
      value={words[order][rising ? 1 : 0] ?? ''}
      choices={names.flatMap((name) => words[name].map((text) => [text, text] as const))}
      onInput={(text) => {
        const next = names.find((name) => words[name].includes(text))
        if (next !== undefined) onOrder(next, words[next][1] === text)
      }}
    />
  )
}
