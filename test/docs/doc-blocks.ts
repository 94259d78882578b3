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
    .map(([, reason, language = '', text = '']) => ({ language, text, reason }))
    .filter(({ language }) => runnable.has(language))
    .map((block) => ({ ...block, line: page.slice(0, page.indexOf(block.text)).split('\n').length }))
}
