/** The program writes no longer line. Longer input is dropped, so that it cannot fill the memory. */
const maxLineLength = 32 * 1024 * 1024

/** Takes text in pieces and hands on its lines, each when its end has come. */
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
