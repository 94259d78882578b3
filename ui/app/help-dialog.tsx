import './help.css'
import { Fragment } from 'preact'
import { useId, useState } from 'preact/hooks'
import { Button } from '../design/button.tsx'
import { DescriptionList } from '../design/description-list.tsx'
import { commandK, shortcutsInUse } from '../design/keys.ts'
import { termsShown } from '../design/meanings.ts'
import { onPressBeside, useModal } from '../design/overlay/use-modal.ts'
import { useObservable } from '../data/observable.ts'
import { keptKeys } from './preferences.ts'

/** The label of a key on a keyboard. */
const keyNames: Readonly<Record<string, string>> = {
  Escape: 'Esc',
  ArrowDown: '↓',
  ArrowUp: '↑',
  ' ': 'Space',
  [commandK]: /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K',
}

/** The dialog with definitions of the figures on the page, and the shortcuts. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const areOn = useObservable(keptKeys) === 'on'
  const id = useId()
  const [terms] = useState(() => termsShown(document))
  const { leave, props } = useModal(onClose)
  return (
    <dialog {...props} class="help-dialog" aria-labelledby={id} onClick={onPressBeside(leave)}>
      <header class="row">
        <h2 id={id}>Help</h2>
        <Button class="at-end" kind="bare" icon="close" label="Close" onClick={() => leave()} />
      </header>
      <div class="help-parts">
        {terms.length > 0 && (
          <section>
            <h3 class="finest">Figures</h3>
            <DescriptionList class="help-terms" facts={terms} />
          </section>
        )}
        <div class="help-groups">
          {shortcutsInUse().map(({ title, shortcuts }) => (
            <section key={title}>
              <h3 class="finest">{title}</h3>
              <DescriptionList
                class="help-keys"
                facts={[...Map.groupBy(shortcuts, ({ words }) => words)].map(([words, same]) => [
                  words,
                  same.map(({ key }, at) => (
                    <Fragment key={key}>
                      {at > 0 && ' or '}
                      {(key === ' ' ? [key] : key.split(' ')).map((part) => (
                        <kbd key={part}>{keyNames[part] ?? part}</kbd>
                      ))}
                    </Fragment>
                  )),
                ])}
              />
            </section>
          ))}
        </div>
      </div>
      <label class="help-foot row">
        <input
          type="checkbox"
          checked={areOn}
          onChange={({ currentTarget }) => keptKeys.set(currentTarget.checked ? 'on' : 'off')}
        />
        <span>
          Single-key shortcuts
          <span class="fine">Turn off if dictation triggers them. Saved in this browser.</span>
        </span>
      </label>
    </dialog>
  )
}
