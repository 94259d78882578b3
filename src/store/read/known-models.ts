import { groupingFor } from '../rollup/groupings.ts'
import type { RowStatements } from '../sqlite/row-statements.ts'

/** Most models in the list, because clients can ask for any number of made-up names. */
const mostModels = 500
/** Most characters of all names together, and of one name. */
const mostCharacters = 50_000
const longestName = 300
/** Limits of the list: models asked for most among the newest calls come first, then those seen first. */
const newestCalls = 20_000
const mostOften = 300

const ofModels = groupingFor(new Set(['model']))?.id
/** Steps from one model to the next in the index instead of reading all calls. Models of folded calls are in the sums. */
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

/** The requested models' names, sorted; if there are very many, only those that matter. */
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
