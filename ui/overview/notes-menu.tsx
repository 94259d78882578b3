import { lazyPart } from '../design/lazy-part.tsx'
import { Popover } from '../design/overlay/popover.tsx'

const NotesPanel = lazyPart(async () => (await import('./notes-panel.tsx')).NotesPanel)

/** What was noted of the time that is shown, and a form to note more. `onChanged`: charts mark it. */
export function NotesMenu({ onChanged }: { readonly onChanged: () => void }) {
  return (
    <Popover label="Notes" icon="note" title="Notes: mark an event in the charts" widthPx={352}>
      {() => <NotesPanel onChanged={onChanged} />}
    </Popover>
  )
}
