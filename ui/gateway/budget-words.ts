import type { HealthReport } from '../../src/api/health-report.ts'
import { shortCount } from '../format/figures.ts'

/** How many tokens of the budget are used, and how sure that is. */
export function budgetWords(budget: HealthReport['token_budget']): string {
  const { total_used: used, daily_limit: limit, estimated, known } = budget
  return [
    `${shortCount(used)} of ${shortCount(limit)}`,
    ...(estimated > 0 ? [`${shortCount(estimated)} estimated`] : []),
    ...(known ? [] : ['use before the start not read yet']),
  ].join(', ')
}
