import './export-menu.css'
import type { JSX } from 'preact'
import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { Popover } from '../design/popover.tsx'
import { count } from '../format/figures.ts'
import { exportPath, listedBounds, maxExported, pageSize } from './calls-question.ts'
import { nowMs } from '../data/dashboard-clock.ts'

/** The calls of the list as a file. */
export function ExportMenu(): JSX.Element {
  const { address } = useNavigation()
  return (
    <Popover
      label="Export"
      widthPx={260}
      words={
        <>
          <Icon name="download" /> <span class="tool-words">Export</span>
        </>
      }
    >
      {(close) => {
        const bounds = listedBounds(address, nowMs())
        return (
          <div class="export-links">
            <a
              class="button"
              href={exportPath(address, bounds, 'csv')}
              download="tokenweir-calls.csv"
              onClick={close}
            >
              CSV, for spreadsheets
            </a>
            <a
              class="button"
              href={exportPath(address, bounds, 'ndjson')}
              download="tokenweir-calls.ndjson"
              onClick={close}
            >
              NDJSON, for programs
            </a>
            <p>
              {address.sort === 'started_at'
                ? `The newest ${count(maxExported)} of these calls at most, times in UTC.`
                : `These ${pageSize} calls at most, times in UTC.`}
            </p>
          </div>
        )
      }}
    </Popover>
  )
}
