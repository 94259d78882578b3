import { useEffect, useId, useRef } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { shortcutsInUse } from '../design/keys.ts'
import { useWatched } from '../data/watched.ts'
import { keptKeys } from './preferences.ts'

/** How a key is called on a keyboard. */
const keyNames: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowDown: '↓',
  ArrowUp: '↑',
  ' ': 'Space',
}

/** The keys that do something here, and whether they do. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const areOn = useWatched(keptKeys) === 'on'
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="keys-dialog"
      aria-labelledby={id}
      onClose={onClose}
      // A press beside it is one on the dialog itself.
      onClick={(event) => {
        if (event.target === event.currentTarget) dialog.current?.close()
      }}
    >
      <header>
        <h2 id={id}>Keys</h2>
        <Button kind="bare" icon="close" label="Close" onClick={() => dialog.current?.close()} />
      </header>
      <div class="keys-groups">
        {shortcutsInUse().map(({ title, shortcuts }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {shortcuts.map(({ key, words }) => (
                <div key={`${key} ${words}`}>
                  <dt>{words}</dt>
                  <dd>
                    {(key === ' ' ? [key] : key.split(' ')).map((part) => (
                      <kbd key={part}>{keyNames[part] ?? part}</kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label class="keys-foot">
        <input
          type="checkbox"
          checked={areOn}
          onChange={({ currentTarget }) => keptKeys.set(currentTarget.checked ? 'on' : 'off')}
        />
        <span>
          Single-key shortcuts
          <span class="fine">
            Switch them off where dictation or a stray finger sets them off. Kept in this browser.
          </span>
        </span>
      </label>
    </dialog>
  )
}
