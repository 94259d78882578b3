/** The colours of charts, as named in tokens.css. */
export type ColourName =
  | 'accent'
  | 'first'
  | 'p50'
  | 'p99'
  | 'bad'
  | 'queue'
  | 'stream'
  | 'cost'
  | `kind-${1 | 2 | 3 | 4 | 5 | 6}`
  | 'edge'
  | 'quiet'

const groupColours = ['kind-1', 'kind-2', 'kind-3', 'kind-4', 'kind-5', 'kind-6'] as const

/** The most groups of a chart. More colours would look alike. */
export const mostGroups = groupColours.length

/**
 * Returns the colour of each group; at most {@link mostGroups}. `known` has the names of all groups. With up to six
 * known groups, each always has the same colour. With more, two shown groups may have to change colours.
 */
export function coloursOf(
  names: readonly string[],
  allNames: readonly string[] = names,
): ReadonlyMap<string, ColourName> {
  const colours = inTurn([...new Set([...allNames, ...names])].toSorted(), (name) =>
    Math.floor(hashOf(name) * mostGroups),
  )
  const shown = inTurn([...new Set(names)].toSorted(), (name) => colours.get(name) ?? 0)
  return new Map(Array.from(shown, ([name, at]) => [name, groupColours[at] ?? 'edge']))
}

/** Gives each name its preferred place, or the next free one. When all are taken, places are given again. */
function inTurn(names: readonly string[], preferred: (name: string) => number): ReadonlyMap<string, number> {
  const free = new Set<number>()
  const places = new Map<string, number>()
  for (const name of names) {
    if (free.size === 0) for (const at of groupColours.keys()) free.add(at)
    const first = preferred(name)
    const at = [...free].toSorted((a, b) => after(first, a) - after(first, b))[0] ?? 0
    free.delete(at)
    places.set(name, at)
  }
  return places
}

const after = (first: number, at: number): number => (at - first + mostGroups) % mostGroups

/** Returns a hash from 0 to below 1: FNV-1a (draft-eastlake-fnv), 32 bits, of UTF-16 code units. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0
  return hash / 2 ** 32
}
