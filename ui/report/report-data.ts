import type { Overview } from '../../src/api/overview.ts'
import type { CompareGroup } from '../compare/compare-figures.ts'

/** What a report is made of: the dashboard puts it into the file. */
export interface ReportData {
  /** ISO 8601, UTC. */
  readonly made_at: string
  /** The query of the request: filters under the names of the API. */
  readonly query: string
  readonly overview: Overview
  readonly models: readonly CompareGroup[]
  readonly clients: readonly CompareGroup[]
}

/** Reads what stands in the file. */
export function reportData(): ReportData {
  return JSON.parse(document.getElementById('report')?.textContent ?? '') as ReportData
}
