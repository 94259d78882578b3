import { useRef } from 'preact/hooks'
import { Icon } from '../icon.tsx'

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onValue: (value: string) => void
}

/** A search field. Escape clears the text, or leaves an empty field. */
export function SearchField({ label, placeholder, value, onValue }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
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
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        onKeyDown={({ key }) => {
          if (key === 'Escape' && value === '') field.current?.blur()
        }}
      />
    </div>
  )
}
