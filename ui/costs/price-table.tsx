import './price-table.css'
import type { ComponentChildren, JSX } from 'preact'

export interface PriceTableProps {
  readonly caption: string
  /** Whether what was spent has a column. */
  readonly hasSpent: boolean
  readonly children: ComponentChildren
}

/** Prices side by side, for a million tokens each. */
export function PriceTable({ caption, hasSpent, children }: PriceTableProps): JSX.Element {
  return (
    <table class={`price-table ${hasSpent ? 'has-spent' : ''}`}>
      <caption class="aside">{caption}, in dollars for a million tokens</caption>
      <thead>
        <tr>
          <th scope="col">{hasSpent ? 'Model' : 'Name'}</th>
          <th scope="col" class="price-rate">
            Input
          </th>
          <th scope="col" class="price-rate">
            Output
          </th>
          <th scope="col" class="price-rate is-more">
            Cached
          </th>
          <th scope="col" class="price-source">
            Source
          </th>
          {hasSpent && (
            <th scope="col" class="price-spent">
              Spent
            </th>
          )}
          <td class="price-actions" />
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
