/** The columns of Compare, in order. */
export const compareColumnNames = [
  'calls',
  'errors',
  'latency_p50',
  'latency_p95',
  'latency_p99',
  'timed',
  'first_p50',
  'first_p95',
  'first_p99',
  'speed',
  'cached',
  'cost',
] as const

export type CompareColumnName = (typeof compareColumnNames)[number]

/** The columns of the table of spend, the default order first. */
export const spendColumnNames = [
  'cost',
  'share',
  'change',
  'calls',
  'tokens',
  'cached',
  'per_call',
  'per_million',
] as const

export type SpendColumnName = (typeof spendColumnNames)[number]

export const priceColumnNames = ['input', 'output', 'cached', 'spent'] as const

export type PriceColumnName = (typeof priceColumnNames)[number]
