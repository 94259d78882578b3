import type { CallSort } from '../../src/call/call-reader.ts'

export interface CallColumn {
  readonly words: string
  /** A longer explanation, if `words` is too short for new users. */
  readonly title?: string
  /** The width in rem, including padding. */
  readonly rem: number
  /** True for figures, which are aligned to the right. */
  readonly isFigure?: true
  /** The order after a press on the heading. */
  readonly sort?: CallSort
}

export type ColumnName = keyof typeof columns

const columns = {
  time: { words: 'Time', title: 'When the request arrived.', rem: 8.75, sort: 'started_at' },
  model: { words: 'Model', rem: 11.5 },
  type: { words: 'Type', rem: 6 },
  status: { words: 'Status', rem: 10 },
  client: { words: 'Client', rem: 8 },
  session: { words: 'Session', title: 'Agent run or conversation.', rem: 9 },
  tools: { words: 'Tools', title: 'Tools that the response calls.', rem: 9 },
  tags: { words: 'Tags', rem: 9 },
  upstream: { words: 'Upstream', title: 'Name of the upstream, or its host.', rem: 9 },
  source: { words: 'Source', title: 'Source of an import.', rem: 7 },
  attempts: {
    words: 'Attempts',
    title: 'Attempts at the upstream, including retries.',
    rem: 5,
    isFigure: true,
  },
  input: { words: 'In', title: 'Input tokens.', rem: 5, isFigure: true },
  output: { words: 'Out', title: 'Output tokens.', rem: 6, isFigure: true },
  cached: { words: 'Cached', title: 'Input tokens read from the upstream’s cache.', rem: 5, isFigure: true },
  cachedShare: {
    words: 'Cached %',
    title: 'Share of input tokens read from the upstream’s cache.',
    rem: 5.5,
    isFigure: true,
  },
  bytes: { words: 'Bytes', title: 'Size of the request and the response.', rem: 9.5, isFigure: true },
  cost: { words: 'Cost', rem: 6.75, isFigure: true, sort: 'cost' },
  queue: { words: 'Queue', title: 'Time waiting for a slot.', rem: 5.5, isFigure: true },
  first: { words: 'First token', rem: 6.25, isFigure: true, sort: 'ttft' },
  speed: { words: 'Tok/s', title: 'Output tokens per second after the first one.', rem: 5, isFigure: true },
  total: { words: 'Total', rem: 5.5, isFigure: true, sort: 'duration' },
  timing: { words: 'Timing', title: 'Phases of each call, on one scale.', rem: 10 },
} as const satisfies Readonly<Record<string, CallColumn>>

/** The columns of the table in order. The bars come last and take the remaining width. */
export const callColumns: Readonly<Record<ColumnName, CallColumn>> = columns

/** The names of all columns, in the table's order. */
export const columnNames = Object.keys(columns) as readonly ColumnName[]

/** Columns that cannot be hidden, because a row means nothing without them. */
export const fixedColumns: ReadonlySet<ColumnName> = new Set(['time'])

/** The default columns, most important first. As many as fit are shown. */
const inOrderOfWorth: readonly ColumnName[] = [
  'time',
  'model',
  'status',
  'total',
  'timing',
  'client',
  'output',
  'first',
  'cost',
  'input',
  'queue',
  'speed',
  'type',
]

/** Returns the default columns that fit into a width in rem, in the table's order. */
export function fittingColumns(widthRem: number): readonly ColumnName[] {
  const chosen = new Set<ColumnName>()
  let leftRem = widthRem
  for (const name of inOrderOfWorth) {
    leftRem -= columns[name].rem
    if (leftRem < 0) break
    chosen.add(name)
  }
  return columnNames.filter((name) => chosen.has(name) || fixedColumns.has(name))
}

/** Parses a saved choice of columns; null for the default. Unknown names are ignored. */
export function parseColumns(text: string | null): readonly ColumnName[] | null {
  if (text === null) return null
  const words = new Set(text.split(' '))
  return columnNames.filter((name) => words.has(name) || fixedColumns.has(name))
}
