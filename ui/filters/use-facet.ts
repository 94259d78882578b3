import { useEffect, useState } from 'preact/hooks'
import { type PageAddress, queryKey } from '../data/page-address.ts'
import { type QueryState, useQuery } from '../data/use-query.ts'
import { type Facet, type FacetAnswer, facetPath, readFacet, withoutFacet } from './facets.ts'

/** Asks for the values of a facet in the range and the other filters of an address; of sessions, those with `text`. */
export function useFacet(facet: Facet, address: PageAddress, text: string = ''): QueryState<FacetAnswer> {
  return useQuery<FacetAnswer>(
    queryKey(withoutFacet(facet, address), facet, text),
    () => facetPath(facet, address, text),
    { read: readFacet },
  )
}

/** The text after it has not changed for `afterMs` milliseconds. */
export function useSettled(text: string, afterMs: number): string {
  const [settled, settle] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => settle(text), afterMs)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
