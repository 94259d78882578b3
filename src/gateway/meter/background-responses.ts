import type { CallDraft } from '../../call/call-record.ts'
import { dropOldest } from '../../lib/drop-oldest.ts'
import type { AnswerReader } from './answer-reader.ts'
import type { ReportedFigures } from './read-usage.ts'

/** Most remembered responses; beyond it the oldest is dropped. */
const mostResponses = 10_000

/**
 * Background responses of upstreams whose usage no call has counted yet. The first call that gets the usage
 * counts it. A restart forgets the responses.
 */
export class BackgroundResponses {
  /** Requested models by the response's id. */
  readonly #models = new Map<string, string | null>()

  /**
   * The figures that a call counts. `figures`: those of its answer; `named`: the id of the response in its
   * path. Notes a response that the call has created. If the call counts another one, the result names its
   * model.
   */
  figures(
    figures: ReportedFigures,
    answer: AnswerReader,
    record: CallDraft,
    named: string | null,
  ): ReportedFigures {
    const { responseId: id, isPending, isBackground } = answer
    if (
      record.callType === 'chat' &&
      id !== null &&
      isBackground &&
      isPending &&
      (figures.totalTokens ?? 0) === 0
    )
      this.#note(id, record.model)
    if (named === null || isPending || !this.#models.has(named)) return figures
    const owed = answer.figures(0, true)
    if ((owed.totalTokens ?? 0) === 0) return figures
    record.model ??= this.#models.get(named) ?? null
    this.#models.delete(named)
    return owed
  }

  #note(id: string, model: string | null): void {
    this.#models.set(id, model)
    dropOldest(this.#models, mostResponses)
  }
}
