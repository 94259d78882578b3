import { ByteGather } from '../../lib/byte-gather.ts'
import { parsePiece } from '../../json/json-piece.ts'
import { onlyZeros } from './only-zeros.ts'
import type { UsagePieces } from './read-usage.ts'

type PieceName = keyof UsagePieces
type PieceTexts = { [name in PieceName]?: ByteGather }

/**
 * The pieces of an answer that hold figures. Those of a body are parsed as they are found; of a stream's, which
 * some upstreams send with every event, the newest of each kind is kept as text, and parsed when it is asked for.
 * llama.cpp tells each choice's counts by themselves, so its pieces are kept for each choice.
 */
export class ReportedPieces {
  #parsed: { [name in PieceName]?: unknown } = {}
  /** By choice; all that is not told for a choice is at 0. */
  readonly #texts: PieceTexts[] = []
  /** How often a stream has told counts other than zero, as usage or as timings. */
  countEvents = 0

  /** How many pieces of a stream are to be parsed. */
  get textCount(): number {
    return this.#texts.flatMap((texts) => Object.values(texts)).filter((text) => text.length > 0).length
  }

  inBody(name: PieceName, bytes: Buffer, start: number, end: number): void {
    this.#parsed[name] = parsePiece(bytes, start, end)
  }

  /**
   * `choice`: of which it tells; `null` for all, and then what was told of single ones is out of date. A usage of zeros
   * says nothing: Ollama sends such before, and others might after the real one.
   */
  inEvent(name: PieceName, choice: number | null, bytes: Buffer, start: number, end: number): void {
    if (name === 'usage' && onlyZeros(bytes, start, end)) return
    if (name === 'usage' || name === 'timings') this.countEvents++
    if (name === 'usage' && choice === null && this.#texts.length > 1) this.#texts.length = 1
    const text = ((this.#texts[choice ?? 0] ??= {})[name] ??= new ByteGather())
    text.clear()
    text.append(bytes, start, end)
  }

  /** What came before is out of date, and what came in its place cannot be read. */
  forget(name: PieceName): void {
    for (const texts of this.#texts) texts[name]?.clear()
    this.#parsed[name] = null
  }

  /** Of each choice that was told of by itself; of all in one where none was. */
  all(): readonly UsagePieces[] {
    // Choices between, of which nothing was told, are holes, which `flatMap` passes over.
    return this.#texts.length === 0 ? [this.#parsed] : this.#texts.flatMap((texts) => [piecesOf(texts)])
  }
}

function piecesOf(texts: PieceTexts): UsagePieces {
  const pieces: { [name in PieceName]?: unknown } = {}
  for (const [name, text] of Object.entries(texts)) {
    if (text.length > 0) pieces[name as PieceName] = parsePiece(text.bytes, 0, text.length)
  }
  return pieces
}
