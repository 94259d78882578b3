export interface SlotCellsProps {
  readonly active: number
  readonly slots: number
  /** The most slots that are drawn as cells. More slots are drawn as a bar. */
  readonly most: number
}

/**
 * A cell for each slot, filled if in use. Screen readers ignore the cells, because a text beside them says the
 * same.
 */
export function SlotCells({ active, slots, most }: SlotCellsProps) {
  if (slots > most) return <Meter share={active / slots} />
  return (
    <span class="slot-cells" aria-hidden="true">
      {Array.from({ length: slots }, (_, at) => (
        <span key={at} class={at < active ? 'is-busy' : ''} />
      ))}
    </span>
  )
}

/**
 * A share (0 to 1) as a bar in the colour of the text around it. Even the least share is visible. Screen readers
 * ignore the bar, because a text beside it says the same.
 */
export function Meter({ share }: { readonly share: number }) {
  const width = share <= 0 ? '0' : `max(2px, ${(Math.min(share, 1) * 100).toFixed(1)}%)`
  return (
    <span class="meter" aria-hidden="true">
      <span style={{ width }} />
    </span>
  )
}
