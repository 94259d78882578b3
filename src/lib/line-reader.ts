/**
 * Most characters of a line. Longer input is dropped, so that it cannot fill the memory; no program of ours
 * writes it.
 */
const maxLineLength = 32 * 1024 * 1024

/** Returns a function that takes text in pieces. `onLine` gets each line when it is complete. */
export function lineReader(onLine: (line: string) => void): (text: string) => void {
  let rest = ''
  let isTooLong = false
  return (text) => {
    // A long line is joined once, not again with each of its pieces.
    const lines = text.includes('\n') ? (rest + text).split('\n') : [rest + text]
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (!isTooLong) onLine(line)
      isTooLong = false
    }
    if (rest.length <= maxLineLength) return
    rest = ''
    isTooLong = true
  }
}
