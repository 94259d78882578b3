import type { Warning } from '../../call/call-sink.ts'
import { printable } from './printable.ts'

/** Prints each warning once while it lasts. */
export class WarningLines {
  #shown: ReadonlySet<string> = new Set()

  /** Lines for warnings that were not there before. */
  next(warnings: readonly Warning[]): readonly string[] {
    const fresh = warnings.filter(({ code }) => !this.#shown.has(code))
    this.#shown = new Set(warnings.map(({ code }) => code))
    return fresh.map(({ message }) => `tokenweir: warning: ${printable(message)}`)
  }
}
