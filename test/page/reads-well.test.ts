import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBrowser } from '../support/browser.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { openDashboardPage, startByButton } from './dashboard-page.ts'

test('the page fits every width, follows the system in light and dark, and has its headings in order', async () => {
  await using dashboard = await startDashboardProcess()
  await using browser = await startBrowser()
  await using opened = await openDashboardPage(browser, dashboard.origin, { reducedMotion: 'reduce' })
  const { page } = opened
  await startByButton(opened)
  await page.getByText('Options that only a flag or a variable sets').click()
  await page.locator('#option-upstream').fill(`http://127.0.0.1/${'x'.repeat(300)}`)
  await opened.button('Save').click()
  await opened.untilText('options-told', /^Saved/)

  for (const width of [1440, 1024, 768, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
  }
  const small = await page.evaluate(`[...document.querySelectorAll('button, input, select, summary')]
    .filter((target) => target.checkVisibility())
    .filter((target) => Math.min(target.offsetWidth, target.offsetHeight) < 24).map(({ id }) => id)`)
  assert.deepEqual(small, [])
  const unnamed = await page.evaluate(`[...document.querySelectorAll('input, select')]
    .filter(({ labels }) => labels.length !== 1).map(({ id }) => id)`)
  assert.deepEqual(unnamed, [])
  const headings = await page.evaluate<string[]>(
    "[...document.querySelectorAll('main h1, main h2, main h3, header h1')].map(({ localName }) => localName)",
  )
  assert.deepEqual(headings, ['h1', 'h2', 'h2', 'h2', 'h2'])

  for (const [colorScheme, isDark] of [
    ['light', false],
    ['dark', true],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    const faint = await page.evaluate<string[]>(faintTexts)
    assert.deepEqual(faint, [], colorScheme)
    const [red = 0] = await page.evaluate<number[]>(
      'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)',
    )
    assert.equal(red < 128, isDark)
  }
  assert.deepEqual(opened.problems, [])
})

/** Texts with a contrast under 4.5 to what is behind them (WCAG 2.2, 1.4.3). */
const faintTexts = `(() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number)
  const luminance = (color) => {
    const [r, g, b] = numbers(color).slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    const { backgroundColor } = getComputedStyle(element)
    const isClear = numbers(backgroundColor)[3] === 0
    return isClear && element.parentElement !== null ? ground(element.parentElement) : backgroundColor
  }
  const faint = []
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!hasText || !element.checkVisibility()) continue
    const [dim, bright] = [luminance(getComputedStyle(element).color), luminance(ground(element))].sort()
    if ((bright + 0.05) / (dim + 0.05) < 4.5) faint.push(element.outerHTML.slice(0, 80))
  }
  return faint
})()`
