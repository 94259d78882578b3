import type { JSX } from 'preact'

export interface MeterProps {
  /** From 0 to 1; what is more is drawn as 1. */
  readonly share: number
}

/** A share as a bar, in the colour of the text around it. The words beside it say the same: it is only for the eye. */
export function Meter({ share }: MeterProps): JSX.Element {
  return (
    <span class="meter" aria-hidden="true">
      <span style={{ width: `${Math.min(Math.max(share, 0), 1) * 100}%` }} />
    </span>
  )
}
