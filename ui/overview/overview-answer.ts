import type { Overview, OverviewSlots } from '../../src/api/overview.ts'
import type { Heat } from '../charts/heat-cells.ts'

/** The answer, with what older dashboards do not tell. */
export type OverviewAnswer = Overview & {
  readonly heat?: Heat
  readonly slots: OverviewSlots & {
    /** Highest number of slots at any time of the bucket. */
    readonly limit?: readonly (number | null)[]
    /** Spans in which no gateway ran. */
    readonly gaps?: readonly { readonly from_s: number; readonly to_s: number }[]
  }
}
