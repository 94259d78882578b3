import { ByteGather } from '../../lib/byte-gather.ts'
import { parsePiece } from '../../lib/json-piece.ts'
import { onlyZeros } from './only-zeros.ts'
import type { UsagePieces } from './read-usage.ts'

type PieceName = keyof UsagePieces

/**
 * The pieces of an answer that hold figures. Those of a body are parsed as they are found; of a stream's, which
 * some upstreams send with every event, the newest of each kind is kept as text, and parsed when it is asked for.
 */
export class ReportedPieces {
  #parsed: { [name in PieceName]?: unknown } | null = null
  #texts: { [name in PieceName]?: ByteGather } | null = null

  #countEvents = 0

  /** How often a stream has told counts other than zero, as usage or as timings. */
  get countEvents(): number {
    return this.#countEvents
  }

  /** How many pieces of a stream are to be parsed. */
  get textCount(): number {
    if (this.#texts === null) return 0
    return Object.values(this.#texts).filter((text) => text.length > 0).length
  }

  inBody(name: PieceName, bytes: Buffer, start: number, end: number): void {
    this.#parsed ??= {}
    this.#parsed[name] = parsePiece(bytes, start, end)
  }

  /** A usage of zeros says nothing: Ollama sends such before, and others might after the real one. */
  inEvent(name: PieceName, bytes: Buffer, start: number, end: number): void {
    if (name === 'usage' && onlyZeros(bytes, start, end)) return
    if (name === 'usage' || name === 'timings') this.#countEvents++
    this.#texts ??= {}
    const text = (this.#texts[name] ??= new ByteGather())
    text.clear()
    text.append(bytes, start, end)
  }

  /** What came before is out of date, and what came in its place cannot be read. */
  forget(name: PieceName): void {
    this.#texts?.[name]?.clear()
    if (this.#parsed !== null) this.#parsed[name] = null
  }

  all(): UsagePieces {
    if (this.#texts === null) return this.#parsed ?? {}
    const pieces: { [name in PieceName]?: unknown } = { ...this.#parsed }
    for (const [name, text] of Object.entries(this.#texts)) {
      if (text.length > 0) pieces[name as PieceName] = parsePiece(text.bytes, 0, text.length)
    }
    return pieces
  }
}
