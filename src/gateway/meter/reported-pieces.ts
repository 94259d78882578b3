import { isObject } from '../../lib/message-shape.ts'
import { withoutZeros, type UsagePieces } from './read-usage.ts'

type Pieces = { -readonly [name in keyof UsagePieces]: UsagePieces[name] }

/**
 * The newest objects of an answer that hold figures. llama.cpp reports counts for each choice, so its objects
 * are kept by choice.
 */
export class ReportedPieces {
  /** Objects by choice; those of all choices are at 0. */
  readonly #byChoice: Pieces[] = []
  /** The number of events with counts other than zero, as usage or as timings. */
  countEvents = 0

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
}

/** True if a usage reports anything but zeros. */
export function hasCounts(usage: unknown): boolean {
  if (typeof usage === 'object' && usage !== null) return Object.values(usage).some(hasCounts)
  return usage !== 0 && usage !== null && usage !== false
}
