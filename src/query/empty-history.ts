import type { PastReader } from '../store/read/history-reader.ts'

const noUse = {
  minutes: 0,
  activeMax: 0,
  queuedMax: 0,
  atLimitMs: 0,
  firstMinute: 0,
  lastMinute: 0,
  isOne: true,
} as const

/** Stands in where there is no database to read: no gateway ever ran. */
export const emptyHistory: PastReader = {
  slotUse: (edgesMs) => edgesMs.slice(1).map(() => noUse),
  missingMinutes: () => [],
  ranBefore: () => false,
  limits: () => [],
  events: () => [],
}
