import { mostCostNanoUsd, mostTokens } from '../../call/fields/plausible-amounts.ts'
import { isObject } from '../../lib/message-shape.ts'
import {
  type AskedCall,
  type ReportedFigures,
  type UsagePieces,
  addChoices,
  nanoPerUsd,
  noCounts,
  noFigures,
  readFigures,
  ticksPerNanoUsd,
  withoutZeros,
} from './read-usage.ts'

const timingCounts = ['cache_n', 'prompt_n', 'predicted_n']

type Pieces = { -readonly [name in keyof UsagePieces]: UsagePieces[name] }

/**
 * The newest objects of an answer that hold figures, and the figures in them. llama.cpp reports counts for each
 * choice, so its objects are kept by choice.
 */
export class ReportedPieces {
  /** Objects by choice; those of all choices are at 0. */
  readonly #byChoice: Pieces[] = []
  /** The number of events with counts other than zero, as usage or as timings. */
  countEvents = 0
  /** True if the objects report more than one call can use; set by `figures`. */
  isImplausible = false

  /**
   * Notes an object of a choice; `choice` is `null` for all choices, and then a usage replaces those of
   * single choices. A usage of zeros in an event is ignored, because Ollama sends such before the real one.
   */
  note(name: keyof Pieces, value: unknown, choice: number | null): void {
    if (!isObject(value) && name !== 'cost') return
    if (name === 'usage' || name === 'timings') this.countEvents++
    if (name === 'usage' && choice === null && this.#byChoice.length > 1) this.#byChoice.length = 1
    const pieces = (this.#byChoice[choice ?? 0] ??= {})
    const isMore = name === 'usage' && isObject(value) && isObject(pieces.usage)
    pieces[name] = isMore ? withoutZeros(pieces.usage as typeof value, value) : value
  }

  /** The objects of each choice that has its own; otherwise a single entry for all choices. */
  all(): readonly UsagePieces[] {
    // Choices without objects are holes in the list.
    return this.#byChoice.filter((pieces) => pieces !== undefined)
  }

  /** The counts, cost and times of all choices together. */
  figures(call: AskedCall): ReportedFigures {
    const all = this.all()
    if (all.length === 0) return noFigures
    const sum = addChoices(all.map((pieces) => readFigures(pieces, call)))
    const figures = withinBounds(sum)
    this.isImplausible = figures !== sum || all.some(isImplausible)
    return figures
  }
}

/** True if a usage reports anything but zeros. */
export function hasCounts(usage: unknown): boolean {
  if (typeof usage === 'object' && usage !== null) return Object.values(usage).some(hasCounts)
  return usage !== 0 && usage !== null && usage !== false
}

/** True if an upstream reports more tokens, or a higher cost, than one call can have used. */
function isImplausible({ usage, startUsage, timings, meta, toolUsage }: UsagePieces): boolean {
  return (
    tellsTooMuch(usage, 2) ||
    tellsTooMuch(startUsage, 2) ||
    tellsTooMuch(toolUsage, 2) ||
    (isObject(timings) && timingCounts.some((name) => isAbove(timings[name], mostTokens))) ||
    (isObject(meta) && tellsTooMuch(meta['billed_units'], 1))
  )
}

/** The figures without impossible sums, which many choices, or input from a cache, can make. */
function withinBounds(figures: ReportedFigures): ReportedFigures {
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
