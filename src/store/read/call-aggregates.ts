import type {
  CallAnswer,
  CallDimension,
  CallGroup,
  CallQuestion,
  GroupFigures,
} from '../../call/call-question.ts'
import { callTypeCodes, outcomeCodes } from '../../call/call-fields.ts'
import { selectionOf } from './call-selection.ts'
import type { CallWords } from './call-words.ts'
import type { FigureGroup, FigureParts } from './figure-groups.ts'
import type { FigureQuestion, FigureReader } from './figure-reader.ts'
import { emptyFigures, groupFigures } from './group-figures.ts'
import { Figures } from '../rollup/rollup-figures.ts'

const textOfCode = { call_type: textsOf(callTypeCodes), outcome: textsOf(outcomeCodes) }

function textsOf(codes: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  return new Map(Object.entries(codes).map(([text, code]) => [code, text]))
}

const wordTables = {
  model: 'models',
  client: 'clients',
  endpoint: 'endpoints',
  failure_code: 'labels',
} as const

/** More buckets than these are asked for once more as a whole. */
const mergedBuckets = 200

/** Answers questions about many calls in the words of their askers. */
export class CallAggregates {
  readonly #figures: FigureReader
  readonly #words: CallWords
  /** Used again for each group. */
  readonly #whole = new Figures()

  constructor(figures: FigureReader, words: CallWords) {
    this.#figures = figures
    this.#words = words
  }

  answer({ filter, edgesMs, dimension, top, durationLimitsMs, isSumsOnly }: CallQuestion): CallAnswer {
    const { fromMs: _from, toMs: _to, ...timeless } = filter
    const selection = selectionOf(timeless, this.#words)
    const ends = [edgesMs[0] ?? 0, edgesMs.at(-1) ?? 0]
    if (selection === null) return { groups: [], summary: emptyFigures }
    const question: FigureQuestion = {
      edgesMs,
      filter: selection.ids,
      extra: selection.extra,
      dimension,
      ...(isSumsOnly && { isSumsOnly }),
    }
    // Without time and dimension wider spans and fewer keys do, which is less work than merging very many groups.
    // Most calls have no failure code, and are no group of it.
    const isFew = edgesMs.length === 2 || (dimension === null && edgesMs.length <= mergedBuckets)
    const isMerged = (isFew || selection.extra.conditions.length > 0) && dimension !== 'failure_code'
    const whole: FigureQuestion = { ...question, edgesMs: ends, dimension: null }
    const [found = [], all = found] = this.#figures.ask(isMerged ? [question] : [question, whole])
    const summary = this.#told(all.map(({ figures }) => figures))
    const limitsUs = durationLimitsMs?.map((limitMs) => limitMs * 1000)
    return { groups: this.#inWords(withTop(found, top), dimension, limitsUs), summary }
  }

  #inWords(
    groups: readonly RankedGroup[],
    dimension: CallDimension | null,
    limitsUs: readonly number[] | undefined,
  ): readonly CallGroup[] {
    return groups
      .map(({ bucket, entry, isRest, parts }) => ({
        bucket,
        entry: entry === null || dimension === null ? null : this.#wordOf(dimension, entry),
        isRest,
        figures: this.#told(parts),
        // Of the figures that were just told.
        ...(limitsUs && {
          durationCounts: this.#whole.spreads.duration_us.histogram.countsBetween(limitsUs),
        }),
      }))
      .sort(
        (one, other) =>
          one.bucket - other.bucket ||
          Number(one.isRest) - Number(other.isRest) ||
          other.figures.calls - one.figures.calls ||
          (String(one.entry) < String(other.entry) ? -1 : 1),
      )
  }

  #told(parts: readonly FigureParts[]): GroupFigures {
    this.#whole.clear()
    for (const part of parts) part.addTo(this.#whole)
    return groupFigures(this.#whole)
  }

  #wordOf(dimension: CallDimension, id: number): string | number | null {
    if (dimension === 'status') return id
    if (dimension === 'call_type' || dimension === 'outcome') return textOfCode[dimension].get(id) ?? null
    return this.#words.wordOf(wordTables[dimension], id)
  }
}

interface RankedGroup extends Pick<FigureGroup, 'bucket' | 'entry'> {
  readonly isRest: boolean
  readonly parts: FigureParts[]
}

/** Puts the groups of all but the `top` entries with the most calls together, bucket by bucket. */
function withTop(groups: readonly FigureGroup[], top: number | undefined): readonly RankedGroup[] {
  const callsOf = new Map<number | null, number>()
  for (const { entry, figures } of groups) {
    callsOf.set(entry, (callsOf.get(entry) ?? 0) + figures.sum('calls'))
  }
  const ranked = [...callsOf].sort(([a, some], [b, others]) => others - some || (a ?? -1) - (b ?? -1))
  const kept = new Set(ranked.slice(0, top ?? ranked.length).map(([entry]) => entry))
  const rest = new Map<number, RankedGroup>()
  const shown: RankedGroup[] = []
  for (const { bucket, entry, figures } of groups) {
    const known = rest.get(bucket)
    if (kept.has(entry)) shown.push({ bucket, entry, isRest: false, parts: [figures] })
    else if (known !== undefined) known.parts.push(figures)
    else rest.set(bucket, { bucket, entry: null, isRest: true, parts: [figures] })
  }
  return [...shown, ...rest.values()]
}
