import type { AlertSums } from '../../src/query/alerts-answer.ts'

/** The sums of a database in which nothing happened: no rule finds anything in them. */
export const quietSums: AlertSums = {
  last_seq: 0,
  window: { calls: 0, failed: 0, answered: 0, queue: { n: 0, p95_ms: 0 } },
  ttft: [],
  tokens: [],
  unpriced: [],
  sessions: [],
  day: { cost_usd: 0, tokens_by_hour: Array.from({ length: 24 }, () => 0) },
  month: { cost_usd: 0 },
}
