/**
 * Returns the rows sorted by a value, largest or smallest first. Rows without a value come last, and equal rows
 * keep their order.
 */
export function sortedRows<Row>(
  rows: readonly Row[],
  valueOf: (row: Row) => number | null,
  rising: boolean,
): readonly Row[] {
  return rows.toSorted((a, b) => {
    const [first, second] = [valueOf(a), valueOf(b)]
    if (first === null || second === null) return Number(first === null) - Number(second === null)
    return rising ? first - second : second - first
  })
}
