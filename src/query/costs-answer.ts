import type { Costs, PriceSync } from '../api/costs.ts'
import type { PricesInForce } from '../pricing/prices-in-force.ts'
import type { CostsQuestion } from './query-question.ts'

/** The prices in force as their file has them, and what is wrong with the file. */
export function costsAnswer(
  { costs, problem }: Pick<PricesInForce, 'costs' | 'problem'>,
  { sync }: CostsQuestion,
): Costs {
  return { ...costs, sync: laterOf(costs.sync, sync), problem }
}

/** One that went wrong stands in no file; since then another may have gone well that was begun elsewhere. */
function laterOf(inFile: PriceSync, here: PriceSync | null): PriceSync {
  if (here === null) return inFile
  const isOver = here.state === 'idle' && (inFile.finished_at ?? '') > (here.finished_at ?? '')
  return isOver ? inFile : here
}
