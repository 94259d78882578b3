/** What each of them has under a name, or a list where there are several names: `fieldsOf(rows, 'outcome', 'status')`. */
export function fieldsOf<T>(all: readonly T[], ...names: readonly (keyof T)[]): unknown[] {
  const [only] = names
  return all.map((one) =>
    only !== undefined && names.length === 1 ? one[only] : names.map((name) => one[name]),
  )
}
