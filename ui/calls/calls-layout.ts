import type { RefObject } from 'preact'
import { useMemo } from 'preact/hooks'
import { localValue } from '../data/local-storage.ts'
import { useObservable } from '../data/observable.ts'
import { textScale, useMedia, useWidth } from '../design/use-window.ts'
import { type ColumnName, fittingColumns, parseColumns } from './chosen-columns.ts'

/** The columns chosen in this browser; null for as many as fit. */
export const keptColumns = localValue<readonly ColumnName[] | null>(
  'columns',
  parseColumns,
  (columns) => columns?.join(' ') ?? null,
)

/** The parts of a card, in order. The time has tokens and cost beside it. */
const cardColumns: readonly ColumnName[] = ['model', 'total', 'time', 'status', 'timing']

/** The layout of a list of calls. */
export interface CallsLayout {
  /** True if each row is a card, because a table has no room. */
  readonly isNarrow: boolean
  readonly columns: readonly ColumnName[]
}

/** Returns the layout of a list of calls in an element, by its width. */
export function useCallsLayout(box: RefObject<HTMLElement | null>): CallsLayout {
  const isNarrow = useMedia('(width < 40rem)')
  const widthRem = useWidth(box) / (16 * textScale())
  const fitting = useMemo(() => fittingColumns(widthRem), [widthRem])
  const chosen = useObservable(keptColumns) ?? fitting
  return { isNarrow, columns: isNarrow ? cardColumns : chosen }
}
