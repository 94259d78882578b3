/** Rows by a value, the largest or the smallest first; rows without a value come last, equal ones stay in their order. */
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
