import { sessionSorts } from '../../src/call/call-session.ts'
import { type PageAddress, defaultAddress } from './page-address.ts'
import { compareColumnNames, spendColumnNames } from './sorted-columns.ts'

/** The columns by which a view can be sorted, the usual one first. */
const orders = { compare: compareColumnNames, sessions: sessionSorts, costs: spendColumnNames } as const

/** The column that sorts. */
export function orderOf<Sorted extends keyof typeof orders>(
  view: Sorted,
  { order }: Pick<PageAddress, 'order'>,
): (typeof orders)[Sorted][number] {
  const names: readonly (typeof orders)[Sorted][number][] = orders[view]
  return names.find((name) => name === order) ?? orders[view][0]
}

/** The address after a change: another view begins in its usual order, and another order with the largest. */
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

/** The address of a whole session, without range and filters. */
export function sessionAddress(session: string): PageAddress {
  return { ...defaultAddress, view: 'sessions', session }
}
