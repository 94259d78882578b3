import type { PageAddress } from '../data/page-address.ts'

/** One entry of a ranked list. */
export interface RankedRow {
  readonly key: string
  readonly words: string
  /** What its bar is as long as; null where it is not known. */
  readonly value: number | null
  readonly figure: string
  readonly note?: string | undefined
  /** Where its calls are; null where they cannot be told from others. */
  readonly to: Partial<PageAddress> | null
}
