import type { Overview } from '../../src/api/overview.ts'
import type { Curves, GroupFigures } from '../../src/call/figures.ts'

type Group = GroupFigures & { readonly key: string | null; readonly curves: Curves }

/** The figures of a report: the dashboard puts them into the file. */
export interface ReportData {
  /** ISO 8601, UTC. */
  readonly made_at: string
  /** The query of the request: filters under the names of the API. */
  readonly query: string
  readonly overview: Overview
  readonly models: readonly Group[]
  readonly clients: readonly Group[]
}

const text = document.getElementById('report')?.textContent

/** The figures of a report: a page that is one file, without requests and links. Null in the dashboard. */
export const report = text === undefined ? null : (JSON.parse(text) as ReportData)
