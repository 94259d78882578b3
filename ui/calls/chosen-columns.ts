/** What the table can show of a call, in its order. The bars come last, and take the room that is left. */
export const columnNames = [
  'time',
  'model',
  'type',
  'status',
  'client',
  'attempts',
  'input',
  'output',
  'cached',
  'bytes',
  'cost',
  'queue',
  'first',
  'speed',
  'total',
  'timing',
] as const

export type ColumnName = (typeof columnNames)[number]

/** Width of each column, its padding included. */
export const columnRem: Readonly<Record<ColumnName, number>> = {
  time: 8,
  model: 12,
  type: 6,
  status: 10.5,
  client: 9,
  attempts: 5,
  input: 5,
  output: 5,
  cached: 5,
  bytes: 9.5,
  cost: 6.75,
  queue: 5.5,
  first: 6.25,
  speed: 5,
  total: 5.5,
  timing: 10,
}

/** Without these a row says nothing: they cannot be taken away. */
export const fixedColumns: ReadonlySet<ColumnName> = new Set(['time'])

/** Who has not chosen gets these, from the first on, as long as they fit. */
const inOrderOfWorth: readonly ColumnName[] = [
  'time',
  'model',
  'status',
  'total',
  'timing',
  'output',
  'first',
  'cost',
  'input',
  'queue',
  'speed',
  'client',
  'type',
]

/** The columns that a table of this width shows to who has not chosen any. */
export function fittingColumns(widthRem: number): readonly ColumnName[] {
  const chosen = new Set<ColumnName>()
  let leftRem = widthRem
  for (const name of inOrderOfWorth) {
    leftRem -= columnRem[name]
    if (leftRem < 0) break
    chosen.add(name)
  }
  return columnNames.filter((name) => chosen.has(name) || fixedColumns.has(name))
}

const storageName = 'tokenweir.columns'

/** What was chosen in this browser; null where nothing was. */
export function readColumns(): readonly ColumnName[] | null {
  try {
    return parseColumns(localStorage.getItem(storageName))
  } catch {
    return null
  }
}

/** Keeps a choice in this browser; null goes back to none. */
export function keepColumns(columns: readonly ColumnName[] | null): void {
  try {
    if (columns === null) localStorage.removeItem(storageName)
    else localStorage.setItem(storageName, columns.join(' '))
  } catch {
    // Where nothing may be kept, it holds until the page is left.
  }
}

/** Names that are no column any more are passed over. */
export function parseColumns(text: string | null): readonly ColumnName[] | null {
  if (text === null) return null
  const words = new Set(text.split(' '))
  return columnNames.filter((name) => words.has(name) || fixedColumns.has(name))
}
