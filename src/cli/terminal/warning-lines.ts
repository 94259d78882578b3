import type { Warning } from '../../call/call-sink.ts'
import { printable } from './printable.ts'

/** Says each warning once for as long as it lasts. */
export class WarningLines {
  #shown: ReadonlySet<string> = new Set()

  /** The lines to print now. */
  next(warnings: readonly Warning[]): readonly string[] {
    const fresh = warnings.filter(({ code }) => !this.#shown.has(code))
    this.#shown = new Set(warnings.map(({ code }) => code))
    return fresh.map(({ message }) => `tokenweir: warning: ${printable(message)}`)
  }
}
