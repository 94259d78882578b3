import { sessionSorts } from '../../src/call/call-session.ts'
import { type PageAddress, defaultAddress } from './page-address.ts'
import { compareColumnNames, spendColumnNames } from './sorted-columns.ts'

/** The columns that can sort each view, the default first. */
const orders = { compare: compareColumnNames, sessions: sessionSorts, costs: spendColumnNames } as const

/** Returns the column that sorts a view. */
export function orderOf<Sorted extends keyof typeof orders>(
  view: Sorted,
  { order }: Pick<PageAddress, 'order'>,
): (typeof orders)[Sorted][number] {
  const names: readonly (typeof orders)[Sorted][number][] = orders[view]
  return names.find((name) => name === order) ?? orders[view][0]
}

/**
 * Returns the address after a change. Another view starts in its default order, and another order starts with the
 * largest value.
 */
export function changedAddress(address: PageAddress, change: Partial<PageAddress>): PageAddress {
  const { view, sort, order } = { ...address, ...change }
  const isSame = view === address.view && sort === address.sort && order === address.order
  return {
    ...address,
    ...(view !== address.view && { order: null }),
    ...(!isSame && { rising: false }),
    ...change,
  }
}

/** Returns the address of a whole session, without range and filters. */
export function sessionAddress(session: string): PageAddress {
  return { ...defaultAddress, view: 'sessions', session }
}
