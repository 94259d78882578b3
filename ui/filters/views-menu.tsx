import { useEffect, useRef, useState } from 'preact/hooks'
import { AddressLink, useNavigation } from '../data/navigation.tsx'
import { writeAddress } from '../data/page-address.ts'
import { useWatched } from '../data/watched.ts'
import { Button } from '../design/button.tsx'
import { stored } from '../data/stored.ts'
import { type SavedView, addressOf, longestName, mostViews, readViews, withView } from './saved-views.ts'

const keptViews = stored<readonly SavedView[]>('views', readViews, (views) =>
  views.length === 0 ? null : JSON.stringify(views),
)

/** Saves the present address under a name, and leads to those that were saved. */
export function ViewsMenu({ onOpen }: { readonly onOpen: () => void }) {
  const here = writeAddress(useNavigation().address)
  const views = useWatched(keptViews)
  const [typed, setTyped] = useState('')
  const [told, tell] = useState('')
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.querySelector<HTMLElement>('a, input')?.focus(), [])
  const name = typed.trim()
  const isKnown = views.some((view) => view.name === name)
  const isFull = !isKnown && views.length >= mostViews
  const save = (): void => {
    keptViews.set(withView(views, name, here))
    setTyped('')
    tell(`Saved “${name}”.`)
  }
  const remove = (view: SavedView): void => {
    keptViews.set(views.filter((other) => other.name !== view.name))
    tell(`Deleted “${view.name}”.`)
    box.current?.querySelector('input')?.focus()
  }
  return (
    <div ref={box} class="filter-panel stack">
      {views.length > 0 && (
        <ul
          class="menu-list"
          aria-label="Saved views"
          onClick={({ target }) => {
            if (target instanceof HTMLAnchorElement) onOpen()
          }}
        >
          {views.map((view) => (
            <li key={view.name}>
              <AddressLink
                to={addressOf(view) ?? {}}
                title={view.address}
                aria-current={view.address === here ? 'true' : undefined}
              >
                {view.name}
              </AddressLink>
              <Button
                kind="bare"
                small
                icon="close"
                label={`Delete ${view.name}`}
                onClick={() => remove(view)}
              />
            </li>
          ))}
        </ul>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <input
          class="field"
          autocomplete="off"
          maxLength={longestName}
          placeholder="Name for this view"
          aria-label="Name for this view"
          value={typed}
          onInput={({ currentTarget }) => {
            setTyped(currentTarget.value)
            tell('')
          }}
        />
        <Button type="submit" kind="strong" small isOff={name === '' || isFull}>
          {isKnown ? 'Replace' : 'Save'}
        </Button>
      </form>
      <p class="filter-panel-note" role="status">
        {isFull
          ? `There are ${mostViews} views, and no more can be kept: delete one first.`
          : told || 'Kept in this browser alone.'}
      </p>
    </div>
  )
}
