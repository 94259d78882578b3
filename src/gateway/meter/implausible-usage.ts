import { mostCostNanoUsd, mostTokens } from '../../call/fields/plausible-amounts.ts'
import { isObject } from '../../lib/message-shape.ts'
import {
  type ReportedFigures,
  type UsagePieces,
  noCounts,
  nanoPerUsd,
  ticksPerNanoUsd,
} from './read-usage.ts'

const timingCounts = ['cache_n', 'prompt_n', 'predicted_n']

/** True if an upstream reports more tokens, or a higher cost, than one call can have used. */
export function isImplausible({ usage, startUsage, timings, meta, toolUsage }: UsagePieces): boolean {
  return (
    tellsTooMuch(usage, 2) ||
    tellsTooMuch(startUsage, 2) ||
    tellsTooMuch(toolUsage, 2) ||
    (isObject(timings) && timingCounts.some((name) => isAbove(timings[name], mostTokens))) ||
    (isObject(meta) && tellsTooMuch(meta['billed_units'], 1))
  )
}

/** The figures without impossible sums, which many choices, or input from a cache, can make. */
export function withinBounds(figures: ReportedFigures): ReportedFigures {
  const { inputTokens, outputTokens, costNanoUsd } = figures
  if (isAbove(inputTokens, mostTokens) || isAbove(outputTokens, mostTokens))
    return { ...figures, ...noCounts }
  return isAbove(costNanoUsd, mostCostNanoUsd) ? { ...figures, costNanoUsd: null } : figures
}

/**
 * True if a count in a value is impossible. Fields are recognised by their names, because providers have
 * many. `levels`: how deep counts can lie.
 */
function tellsTooMuch(value: unknown, levels: number): boolean {
  if (!isObject(value)) return false
  return Object.keys(value).some((name) => {
    const member = value[name]
    if (typeof member !== 'number') return levels > 1 && tellsTooMuch(member, levels - 1)
    if (name === 'cost_in_usd_ticks') return member / ticksPerNanoUsd > mostCostNanoUsd
    if (name.includes('cost')) return member * nanoPerUsd > mostCostNanoUsd
    return (name.includes('tokens') || name === 'search_units') && member > mostTokens
  })
}

function isAbove(value: unknown, most: number): boolean {
  return typeof value === 'number' && value > most
}
