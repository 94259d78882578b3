import { isObject } from '../../lib/message-shape.ts'
import { withoutZeros, type UsagePieces } from './read-usage.ts'

type Pieces = { -readonly [name in keyof UsagePieces]: UsagePieces[name] }

/**
 * The newest objects of an answer that hold figures. llama.cpp reports each choice's counts by themselves, so its objects
 * are kept for each choice.
 */
export class ReportedPieces {
  /** Objects by choice; those of no single choice are at 0. */
  readonly #byChoice: Pieces[] = []
  /** The number of events with counts other than zero, as usage or as timings. */
  countEvents = 0

  /**
   * `choice`: the one that the object is of; `null` for all of them, and then a usage takes the place of all that came
   * for single ones. A usage of zeros in an event reports nothing: Ollama sends such before the real one.
   */
  note(name: keyof Pieces, value: unknown, choice: number | null): void {
    if (!isObject(value) && name !== 'cost') return
    if (name === 'usage' || name === 'timings') this.countEvents++
    if (name === 'usage' && choice === null && this.#byChoice.length > 1) this.#byChoice.length = 1
    const pieces = (this.#byChoice[choice ?? 0] ??= {})
    const isMore = name === 'usage' && isObject(value) && isObject(pieces.usage)
    pieces[name] = isMore ? withoutZeros(pieces.usage as typeof value, value) : value
  }

  /** The objects of each choice that has its own; else all in one. */
  all(): readonly UsagePieces[] {
    // Choices between, which have none, are holes.
    return this.#byChoice.filter((pieces) => pieces !== undefined)
  }
}

/** True if a usage reports anything but zeros. */
export function hasCounts(usage: unknown): boolean {
  if (typeof usage === 'object' && usage !== null) return Object.values(usage).some(hasCounts)
  return usage !== 0 && usage !== null && usage !== false
}
