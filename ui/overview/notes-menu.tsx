import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/overlay/popover.tsx'

const NotesPanel = lazyPart(async () => (await import('./notes-panel.tsx')).NotesPanel)

/** The notes in the range, and a form to add one. `onChanged` redraws the marks of charts. */
export function NotesMenu({ onChanged }: { readonly onChanged: () => void }) {
  return (
    <Popover label="Notes" icon="note" title="Notes: mark an event in the charts" widthPx={352}>
      {() => <NotesPanel onChanged={onChanged} />}
    </Popover>
  )
}
