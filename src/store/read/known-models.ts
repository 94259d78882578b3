import { groupingFor } from '../rollup/groupings.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** Most models of the list: strangers ask for names that they make up. */
const mostModels = 500
/** Characters of all names together, and of one. */
const mostCharacters = 50_000
const longestName = 300
/** Limits of the list: models asked for most among the newest calls come first, then those seen first. */
const newestCalls = 20_000
const mostOften = 300

const ofModels = groupingFor(new Set(['model']))?.id
/** Steps from one model to the next in the index, rather than through all calls; folded calls are in the sums. */
const usedModels = `WITH RECURSIVE known (id) AS (
    SELECT min(model_id) FROM calls
    UNION ALL SELECT (SELECT min(model_id) FROM calls WHERE model_id > known.id) FROM known WHERE known.id IS NOT NULL
    LIMIT ${mostModels + 1}
  )
  SELECT text FROM models WHERE id IN (
    SELECT id FROM known UNION SELECT model_id FROM sum_keys WHERE grouping_id = ${ofModels}
  ) ORDER BY id LIMIT ${mostModels + 1}`
const oftenUsed = `SELECT (SELECT text FROM models WHERE id = model_id) FROM (
    SELECT model_id FROM calls NOT INDEXED ORDER BY id DESC LIMIT ${newestCalls}
  ) WHERE model_id IS NOT NULL GROUP BY model_id ORDER BY count(*) DESC, model_id LIMIT ${mostOften}`

/** The names of the models that were asked for, in their order: all of them, or of very many the ones that matter. */
export function knownModels(statements: RowStatements): readonly string[] {
  const names = (sql: string): readonly string[] =>
    statements.all<readonly [string]>(sql).map(([name]) => name)
  const used = names(usedModels)
  const ranked = used.length > mostModels ? [...new Set([...names(oftenUsed), ...used])] : used
  let characters = 0
  return ranked
    .filter((name) => name.length <= longestName)
    .slice(0, mostModels)
    .filter((name) => (characters += name.length) <= mostCharacters)
    .toSorted((a, b) => (a < b ? -1 : 1))
}
