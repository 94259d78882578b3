import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { SearchField, type SearchFieldProps } from '../design/form/search-field.tsx'

/** The pause in typing before the address changes. */
const typingMs = 200

/** The field for the search text of the address. */
export function TextSearch(props: Pick<SearchFieldProps, 'label' | 'placeholder'>) {
  const { address, replace } = useNavigation()
  const [text, setText] = useState(address.text)
  /** The text last written to or read from the address. The field may have newer text. */
  const shared = useRef(address.text)
  useEffect(() => {
    if (address.text === shared.current) return
    shared.current = address.text
    setText(address.text)
  }, [address.text])
  useEffect(() => {
    if (text === address.text) return
    const timer = setTimeout(() => {
      shared.current = text
      replace({ text })
    }, typingMs)
    return () => clearTimeout(timer)
  }, [text])
  return <SearchField {...props} value={text} onValue={setText} />
}
