import { tagKey, tagOf } from '../../src/call/call-question.ts'
import { useNavigation } from '../data/navigation.tsx'
import { type CompareBy, compareWords } from '../data/page-address.ts'
import { Control } from '../design/form/control.tsx'
import { Segments } from '../design/form/segments.tsx'
import { useFacet } from './facets.ts'

const withTag = { ...compareWords, tag: 'Tag' }

export interface ByChoiceProps {
  readonly label: string
  readonly by: CompareBy
  readonly onChoose: (by: CompareBy) => void
}

/** The choice of the field or tag key that groups calls. Only tag keys of calls in the range are listed. */
export function ByChoice({ label, by, onChoose }: ByChoiceProps) {
  const { address } = useNavigation()
  const { answer } = useFacet('tag', address)
  const chosen = tagOf(by)
  const tagKeys = answer?.values.map(({ value }) => tagKey(value)) ?? []
  const keys = [...new Set(chosen === null ? tagKeys : [...tagKeys, chosen])]
  const [first] = keys
  return (
    <>
      <Segments<keyof typeof withTag>
        label={label}
        words={first === undefined ? (compareWords as typeof withTag) : withTag}
        chosen={chosen === null ? (by as keyof typeof compareWords) : 'tag'}
        onChoose={(next) => onChoose(next === 'tag' ? `tag:${chosen ?? first ?? ''}` : next)}
      />
      {chosen !== null && keys.length > 1 && (
        <Control
          aria-label="Tag key"
          value={chosen}
          choices={keys.map((key) => [key, key])}
          onInput={(key) => onChoose(`tag:${key}`)}
        />
      )}
    </>
  )
}
