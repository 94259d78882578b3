import type { JSX } from 'preact'
import type { CallPayloads } from '../../src/api/call-payloads.ts'
import { AddressLink } from '../data/navigation.tsx'

/** Why there is nothing to show of a call, and where to change that. */
export function NoPayloads({ logging, reason }: Pick<CallPayloads, 'logging' | 'reason'>): JSX.Element {
  const [title, about] = wordsOf(reason, logging)
  return (
    <div class="payload-none">
      <strong>{title}</strong>
      <p>{about}</p>
      {logging !== true && (
        <AddressLink class="button" to={{ view: 'live', call: null, tab: 'timing', text: '' }}>
          To the switch
        </AddressLink>
      )}
    </div>
  )
}

function wordsOf(
  reason: CallPayloads['reason'],
  logging: boolean | null,
): readonly [title: string, about: string] {
  const isOn = logging === true
  switch (reason) {
    case 'rotated_away':
      return [
        'Its payloads have made room for newer ones',
        'Only the newest requests and answers are kept, up to the size that is set for the gateway.',
      ]
    case 'not_captured':
      return [
        'Its payloads were not kept',
        'Those of other calls around it were. It asked not to be, or its record was lost or cleared, or only a part of all calls is kept.',
      ]
    case 'logging_off':
    case null:
      return [
        'Payloads are kept only while raw logging is on',
        isOn ? 'It was off when this call came. It is on now.' : 'It was off when this call came.',
      ]
  }
}
