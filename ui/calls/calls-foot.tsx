import type { JSX } from 'preact'
import { useNavigation } from '../data/navigation.tsx'
import { sortWords } from '../data/call-words.ts'
import { count, counted } from '../format/figures.ts'
import { maxListed, pageSize } from './calls-question.ts'
import type { CallList } from './use-call-list.ts'

export interface CallsFootProps {
  readonly list: CallList
}

/** What stands at the end of a list: that more is to come, why it does not, or that this is all. */
export function CallsFoot({ list }: CallsFootProps): JSX.Element {
  const { answer, calls, hasMore, isStale, moreTrouble, loadMore } = list
  const { address } = useNavigation()
  if (hasMore && moreTrouble !== null) {
    return (
      <p class="calls-foot" role="alert">
        <span>{moreTrouble}</span>
        <button type="button" class="button small" onClick={loadMore}>
          Try again
        </button>
      </p>
    )
  }
  return <p class="calls-foot">{hasMore || isStale ? 'More are on their way…' : endWords()}</p>

  function endWords(): string {
    const total = answer?.summary.calls ?? 0
    if (address.sort !== 'started_at') {
      return total > calls.length && calls.length >= pageSize
        ? `The first ${count(calls.length)} by “${sortWords[address.sort].toLowerCase()}”.`
        : `That is all${answer?.resolution === undefined ? '' : ' that is kept call by call'}.`
    }
    if (calls.length >= maxListed)
      return `A list ends at ${count(maxListed)} calls: narrow the range, or export them.`
    if (total > calls.length && answer?.resolution !== undefined) {
      return `${counted(total - calls.length, 'older call')} are kept as sums alone.`
    }
    return `That is all: ${counted(calls.length, 'call')}.`
  }
}
