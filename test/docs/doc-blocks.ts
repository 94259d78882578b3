/** A fenced block of a page. */
export interface DocBlock {
  readonly language: string
  readonly text: string
  /** The first line of its text, in the page. */
  readonly line: number
  /** Why it cannot be run: the comment `<!-- not run: … -->` right above it. */
  readonly reason: string | undefined
}

/** Languages whose blocks are run; any other one is output, or a configuration of another program. */
const runnable = new Set(['sh', 'console', 'python', 'js', 'sql', 'json'])

export function docBlocks(page: string): readonly DocBlock[] {
  const blocks = page.matchAll(/(?:^<!-- not run: (.+) -->\n)?^```(\w+)\n([^]*?)^```$/gm)
  return [...blocks]
    .map(({ 0: all, 1: reason, 2: language = '', 3: text = '', index }) => {
      const before = page.slice(0, index + all.indexOf(text))
      return { language, text, reason, line: before.split('\n').length }
    })
    .filter(({ language }) => runnable.has(language))
}
