import type { QueryOutcome } from '../../query/query-messages.ts'
import type { QueryQuestion } from '../../query/query-question.ts'

/** Answers questions about recorded calls without ever holding up who asks. */
export interface QuerySource {
  /** Rejects only with a fault of our own. */
  ask(question: QueryQuestion): Promise<QueryOutcome>
}
