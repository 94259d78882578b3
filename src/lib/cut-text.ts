/** The beginning of a text, at most so many UTF-16 units, without half of a surrogate pair: some receivers refuse such JSON. */
export function cutText(text: string, longest: number): string {
  return text.length > longest ? text.slice(0, longest).replace(/[\ud800-\udbff]$/, '') : text
}
