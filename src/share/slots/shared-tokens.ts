import type { BudgetAnswer, BudgetMessage } from '../../gateway/admission/shared-usage.ts'
import type { PostgresConnection } from '../postgres.ts'

/** The budget that a start asks for; null means the others' value. */
export interface AskedBudget {
  readonly tokenLimit: number | null
  readonly defaultTokenLimit: number
  /** True if calls beyond the budget are refused. */
  readonly rejects: boolean | null
}

/** The budget of all gateways. `refusal`: why this start is not allowed, for people; null if it is. */
export interface EnteredBudget {
  readonly limit: number
  readonly rejects: boolean
  readonly refusal: string | null
}

/** Asks for the budget of all gateways; the first start sets it. */
export async function enterBudget(
  connection: PostgresConnection,
  folder: string,
  { tokenLimit, defaultTokenLimit, rejects: asked }: AskedBudget,
): Promise<EnteredBudget> {
  const [[stored, areRejected, isAllowed] = []] = await connection.query(
    'SELECT * FROM tokenweir.budget_enter($1, $2, $3, $4)',
    [folder, tokenLimit, defaultTokenLimit, asked],
  )
  const limit = Number(stored)
  const rejects = areRejected === true
  if (isAllowed === true) return { limit, rejects, refusal: null }
  const action = rejects ? 'reject' : 'report'
  const refusal =
    tokenLimit !== null && tokenLimit !== limit
      ? `the gateways share a budget of ${limit} tokens, and --token-limit says ${tokenLimit}: start with ${limit}, or without it; to change it for all, use the page of one that runs`
      : `the token budget of the gateways does ${action}, and --budget-action says ${rejects ? 'report' : 'reject'}: start with ${action}, or without it`
  return { limit, rejects, refusal }
}

/** Sends a message of a gateway, and resolves with the answer. Rejects without one. */
export async function syncBudget(
  connection: PostgresConnection,
  instance: string,
  { limit, rejects }: Pick<EnteredBudget, 'limit' | 'rejects'>,
  { usedTotal, fromSeq }: BudgetMessage,
): Promise<BudgetAnswer> {
  const [row = []] = await connection.query('SELECT * FROM tokenweir.budget_look($1, $2, $3, $4, $5)', [
    instance,
    usedTotal,
    fromSeq,
    limit,
    rejects,
  ])
  const [tokenLimit = 0, pending = 0, seq = 0] = row.slice(0, 3).map(Number)
  const figures = Array.isArray(row[3]) ? row[3].map(Number) : []
  const minutes = Array.from({ length: figures.length / 3 }, (_, at) => {
    const [minute = 0, tokens = 0, estimated = 0] = figures.slice(3 * at, 3 * at + 3)
    return { minute, tokens, estimated }
  })
  return { tokenLimit, pending, seq, isSynced: fromSeq === 0, minutes }
}
