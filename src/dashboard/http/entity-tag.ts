import type { ContentCoding } from './content-coding.ts'

/** The `ETag` of a content with this tag, as it is sent in a coding: not the same bytes in each. */
export function entityTag(tag: string, coding: ContentCoding | null): string {
  return `"${tag}${coding === null ? '' : `-${coding}`}"`
}

/** Whether who sends this `If-None-Match` has the content, in whichever coding it came. */
export function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  const known = [null, 'br', 'gzip'] as const
  const tags = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return tags.some((one) => one === '*' || known.some((coding) => one === entityTag(tag, coding)))
}
