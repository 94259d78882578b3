import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../address/navigation.tsx'
import { Icon } from '../design/icon.tsx'
import { useShortcuts } from '../keys/keys.tsx'
import { isCallId } from './searched-id.ts'

export interface CallSearchProps {
  readonly onOpen: (id: string) => void
}

/** Finds a call by its id, wherever in time it is, or the calls of an error code in the range. */
export function CallSearch({ onOpen }: CallSearchProps): JSX.Element {
  const { address, go } = useNavigation()
  const [text, setText] = useState(address.q)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => setText(address.q), [address.q])
  useShortcuts('Calls', [{ key: '/', words: 'Search', run: () => field.current?.focus() }])
  const search = (): void => {
    const sought = text.trim()
    if (isCallId(sought.toLowerCase())) {
      setText(address.q)
      onOpen(sought.toLowerCase())
    } else if (sought !== address.q) go({ q: sought })
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
        aria-label="Call id or error code"
        placeholder="Call id or error code"
        title="An id of eleven characters opens that call, whatever the range; anything else is an exact error code."
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
