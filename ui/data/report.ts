import type { Overview } from '../../src/api/overview.ts'
import type { Curves, GroupFigures } from '../../src/call/figures.ts'
import type { NamedGroup } from './page-address.ts'

type Group = GroupFigures & NamedGroup & { readonly curves: Curves }

/** The data that the dashboard writes into a report. */
export interface ReportData {
  /** The time of the report (ISO 8601, UTC). */
  readonly made_at: string
  /** The query of the request, with filters under the API's names. */
  readonly query: string
  readonly overview: Overview
  readonly models: readonly Group[]
  readonly clients: readonly Group[]
}

const text = document.getElementById('report')?.textContent

/** The data of a report, which is a page in one file without requests and links. Null in the dashboard. */
export const report = text === undefined ? null : (JSON.parse(text) as ReportData)
