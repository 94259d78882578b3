import { useEffect, useRef, useState } from 'preact/hooks'
import { useNavigation } from '../data/navigation.tsx'
import { useSettled } from './facets.ts'
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
  const settled = useSettled(text, typingMs)
  useEffect(() => {
    if (settled === address.text) return
    shared.current = settled
    replace({ text: settled })
  }, [settled])
  return <SearchField {...props} value={text} onValue={setText} />
}
