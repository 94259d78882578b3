/** In the report, in place of `data/navigation.tsx`: there is nowhere to go, and links are their words. */
import { Times } from '../format/times.ts'
import type { AddressLinkProps, Navigation } from '../data/navigation.tsx'
import { readAddress, plainAddress } from '../data/page-address.ts'
import { reportData } from './report-data.ts'

const { query, overview } = reportData()
const range = { last: null, fromMs: Date.parse(overview.from), toMs: Date.parse(overview.to) } as const
const address = { ...(readAddress('/', new URLSearchParams(query)) ?? plainAddress), range }
const stay = (): void => undefined
const times = new Times(address.utc)

export function useNavigation(): Navigation {
  return { address, isFirst: false, go: stay, amend: stay }
}

export function useTimes(): Times {
  return times
}

export function AddressLink({ class: className, title, children }: AddressLinkProps) {
  return (
    <span class={className} title={title}>
      {children}
    </span>
  )
}
