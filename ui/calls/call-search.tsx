import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { useShortcuts } from '../design/keys.ts'
import { searched } from './searched.ts'

export interface CallSearchProps {
  readonly onOpen: (id: string) => void
}

/** Finds a call by its id, wherever in time it is, or the calls of a status or an error code in the range. */
export function CallSearch({ onOpen }: CallSearchProps): JSX.Element {
  const { address, go } = useNavigation()
  const [text, setText] = useState(address.q)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(address.q), [address.q])
  useShortcuts('Calls', [{ key: '/', words: 'Search', run: () => field.current?.focus() }])
  const search = (): void => {
    const found = searched(text)
    const { q } = 'id' in found ? address : { ...address, ...found.filter }
    setText(q)
    if ('id' in found) onOpen(found.id)
    else if (q !== address.q || found.filter.statuses !== undefined) go(found.filter)
  }
  return (
    <form
      class="call-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        search()
      }}
    >
      <Icon name="search" size={14} />
      <input
        ref={field}
        id="search"
        class="field"
        type="search"
        name="q"
        enterkeyhint="search"
        autocomplete="off"
        spellcheck={false}
        aria-label="Call id, status or error code"
        placeholder="Call id, status or code"
        title="An id of eleven characters opens that call, whatever the range; three digits are a status, anything else is an exact error code."
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget
          setText(value)
          if (value === '' && address.q !== '') go({ q: '' })
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text === '') field.current?.blur()
        }}
      />
    </form>
  )
}
