import { Icon } from '../icon.tsx'

export interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onValue: (value: string) => void
}

/** A search field. Escape clears the text, or leaves an empty field. */
export function SearchField({ label, placeholder, value, onValue }: SearchFieldProps) {
  return (
    <div class="search-field" role="search">
      <Icon name="search" size={14} />
      <input
        class="field"
        type="search"
        enterkeyhint="search"
        autocomplete="off"
        spellcheck={false}
        aria-label={label}
        placeholder={placeholder}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Escape' && value === '') currentTarget.blur()
        }}
      />
    </div>
  )
}
