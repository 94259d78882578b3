export interface OrderSelectProps<Name extends string> {
  /** For each order, the first row in words: with the largest value, and with the smallest if both can be first. */
  readonly words: Readonly<Record<Name, readonly string[]>>
  readonly order: Name
  readonly rising: boolean
  readonly class?: string
  readonly onOrder: (order: Name, rising: boolean) => void
}

/** Chooses the column that sorts and its direction, where there is no room for headings. */
export function OrderSelect<Name extends string>(props: OrderSelectProps<Name>) {
  const { words, order, rising, class: className = '', onOrder } = props
  const names = Object.keys(words) as Name[]
  return (
    <select
      class={`field ${className}`}
      aria-label="Order"
      value={words[order][rising ? 1 : 0]}
      onChange={({ currentTarget: { value } }) => {
        const next = names.find((name) => words[name].includes(value))
        if (next !== undefined) onOrder(next, words[next][1] === value)
      }}
    >
      {names
        .flatMap((name) => words[name])
        .map((text) => (
          <option key={text}>{text}</option>
        ))}
    </select>
  )
}
