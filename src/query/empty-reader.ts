import type { CallReader } from '../call/call-reader.ts'
import { emptyFigures } from '../store/read/group-figures.ts'

/** Stands in where there is no database to read: every answer is as if no call had ever been recorded. */
export const emptyReader: CallReader = {
  list: () => [],
  endedSince: (afterSeq) => ({ calls: [], lastSeq: afterSeq }),
  call: () => null,
  aggregate: () => ({ groups: [], summary: emptyFigures }),
  choices: () => ({ models: [], types: [] }),
  extent: () => null,
  foldedUntilMs: () => null,
  lastSeq: () => 0,
  inOneInstant: (ask) => ask(),
  close: () => {},
}
