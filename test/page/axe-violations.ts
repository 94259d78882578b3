import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'

const axe = readFile(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/**
 * What axe finds against WCAG 2.2 AA and its own best practices: rule, and the first elements. The page's own policy
 * lets no script in that is not its own: it has to be opened with `bypassCSP`.
 */
export function violations(page: Page): Promise<readonly string[]> {
  return found(page, ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'])
}

/** The same of what another theme can change, in a page that is otherwise the same: contrast, and what tells links apart. */
export function themeViolations(page: Page): Promise<readonly string[]> {
  return found(page, ['color-contrast', 'link-in-text-block'])
}

async function found(page: Page, tagsOrRules: readonly string[]): Promise<readonly string[]> {
  await page.evaluate(await axe)
  return page.evaluate<string[]>(`(async () => {
    const runOnly = ${JSON.stringify(tagsOrRules)}
    const { violations } = await axe.run(document, { runOnly, resultTypes: ['violations'] })
    // A neighbour is one only where it is seen: axe counts the parts of it that lie behind an open menu, too.
    const isSeenBeside = (target, neighbour) => {
      const [from, to] = [target.getBoundingClientRect(), neighbour.getBoundingClientRect()]
      const near = (at, low, high) => Math.min(Math.max(at, low + 1), high - 1)
      const x = near(from.x + from.width / 2, to.left, to.right)
      const y = near(from.y + from.height / 2, to.top, to.bottom)
      return neighbour.contains(document.elementFromPoint(x, y))
    }
    for (const violation of violations.filter(({ id }) => id === 'target-size'))
      violation.nodes = violation.nodes.filter(({ any, target }) =>
        any.some(({ id, relatedNodes }) => id === 'target-offset' && relatedNodes.some((node) =>
          isSeenBeside(document.querySelector(target[0]), document.querySelector(node.target[0])))))
    return violations.filter(({ nodes }) => nodes.length > 0).map(({ id, nodes }) =>
      id + ': ' + nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 160) + ' ' + failureSummary).join(' | '))
  })()`)
}
