import { useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { useShortcuts } from './keys.ts'

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly title?: string
  readonly value: string
  readonly onValue: (value: string) => void
  /** With Enter, if that does more than typing does. */
  readonly onSearch?: () => void
  /** The title of the key `/` in the list of keys, which leads here. */
  readonly keysTitle: string
}

/** A field for what is looked for. Escape in an empty one leaves it. */
export function SearchField(props: SearchFieldProps) {
  const { label, placeholder, title, value, onValue, onSearch, keysTitle } = props
  const field = useRef<HTMLInputElement>(null)
  useShortcuts(keysTitle, [{ key: '/', words: label, run: () => field.current?.focus() }])
  return (
    <div class="search-field" role="search">
      <Icon name="search" size={14} />
      <input
        ref={field}
        class="field"
        type="search"
        enterkeyhint="search"
        autocomplete="off"
        spellcheck={false}
        aria-label={label}
        placeholder={placeholder}
        title={title}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') onSearch?.()
          if (key === 'Escape' && value === '') field.current?.blur()
        }}
      />
    </div>
  )
}
