import type { ComponentChildren } from 'preact'
import { Button } from '../design/button.tsx'

export interface PanelFootProps {
  /** Says what is shown if nothing is chosen. */
  readonly clear: string
  readonly isClear: boolean
  readonly onClear: () => void
  readonly children?: ComponentChildren
}

/** The end of what opens below a filter: what takes the filter away. */
export function PanelFoot({ clear, isClear, onClear, children }: PanelFootProps) {
  return (
    <div class="filter-panel-foot row">
      {children}
      <Button kind="bare" small isOff={isClear} onClick={onClear}>
        {clear}
      </Button>
    </div>
  )
}
