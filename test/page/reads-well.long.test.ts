import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { openDashboardPage, startByButton, untilReady, untilStill, viewPaths } from './dashboard-page.ts'
import { writePageData } from './page-data.ts'

test('every view fits every width, has targets that can be hit, and texts that can be read in light and dark', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'incident')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { reducedMotion: 'reduce' })
  const { page } = opened
  for (const path of viewPaths) {
    await page.goto(dashboard.origin + path)
    await untilReady(page)
    for (const width of [1440, 1024, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 800 })
      await untilStill(page)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${path} at ${width}`)
      assert.deepEqual(await page.evaluate(smallTargets), [], `${path} at ${width}`)
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    for (const [colorScheme, isDark] of [
      ['light', false],
      ['dark', true],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await untilStill(page)
      assert.deepEqual(await page.evaluate<string[]>(faintTexts), [], `${path} ${colorScheme}`)
      const [red = 0] = await page.evaluate<number[]>(
        'getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)',
      )
      assert.equal(red < 128, isDark)
    }
  }
})

test('the Settings view fits with everything open, long values and last words', async () => {
  await using dashboard = await startDashboardProcess()
  await using opened = await openDashboardPage(dashboard, {
    path: '/gateway',
    reducedMotion: 'reduce',
  })
  const { page } = opened
  await startByButton(opened)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('more options, set by flag or environment variable').click()
  await page.locator('#option-upstream').fill(`http://127.0.0.1/${'x'.repeat(300)}`)
  await opened.button('Save').click()
  await opened.untilText('options-told', /^Saved/)
  for (const width of [1440, 1024, 768, 390, 320]) {
    await page.setViewportSize({ width, height: 800 })
    await untilStill(page)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
    assert.deepEqual(await page.evaluate(smallTargets), [], String(width))
    await opened.button('Restart to apply').click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const { x = -1, width: wide = 0 } = (await dialog.boundingBox()) ?? {}
    assert.ok(x >= 0 && x + wide <= width, `the dialog at ${width}`)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  }
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await untilStill(page)
    assert.deepEqual(await page.evaluate<string[]>(faintTexts), [], colorScheme)
  }
})

test('every control can be reached with the Tab key, and is not under the bar then', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'three')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, { reducedMotion: 'reduce' })
  const { page } = opened
  for (const path of viewPaths) {
    await page.goto(dashboard.origin + path)
    await untilReady(page)
    assert.deepEqual(await tabThrough(page), { missed: [], hidden: [] }, path)
  }
})

/** Which controls Tab does not reach, and which it reaches where the bar hides them. */
async function tabThrough(page: Page): Promise<unknown> {
  await page.evaluate(`
    globalThis.controls = new Set([...document.querySelectorAll(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]')]
      .filter((control) => control.checkVisibility({ visibilityProperty: true }) && control.tabIndex === 0))
    globalThis.reached = new Set()
    globalThis.hidden = []`)
  const count = await page.evaluate<number>('controls.size')
  assert.ok(count > 5)
  for (let presses = 0; presses < count + 10; presses += 1) {
    await page.keyboard.press('Tab')
    const isOver = await page.evaluate<boolean>(`(() => {
      const control = document.activeElement
      if (control === document.body) return reached.size > 0
      reached.add(control)
      const { top, bottom } = control.getBoundingClientRect()
      const bar = document.querySelector('header')
      const edge = bar.getBoundingClientRect().bottom
      const isSticky = ['sticky', 'fixed'].includes(getComputedStyle(bar).position)
      if (isSticky && !bar.contains(control) && control.className !== 'skip-link' && bottom <= edge) {
        hidden.push(control.outerHTML.slice(0, 120))
      }
      return false
    })()`)
    if (isOver) break
  }
  return page.evaluate(`({
    missed: [...controls].filter((control) => control.isConnected && !reached.has(control))
      .map((control) => control.outerHTML.slice(0, 120)),
    hidden })`)
}

/** Controls under 24 by 24 pixels (WCAG 2.2, 2.5.8); links within a sentence may be. */
const smallTargets = `[...document.querySelectorAll('button, input, select, summary, nav a')]
  .filter((target) => target.checkVisibility({ visibilityProperty: true }))
  .filter((target) => !['checkbox', 'radio'].includes(target.type))
  .filter((target) => Math.min(target.offsetWidth, target.offsetHeight) < 24)
  .map((target) => target.outerHTML.slice(0, 120))`

/** Texts with a contrast under 4.5 to what is behind them (WCAG 2.2, 1.4.3). */
const faintTexts = `(() => {
  const colorOf = (text) => {
    const [r, g, b, alpha = 1] = text.match(/[\\d.]+(?:e-?\\d+)?/g).map(Number)
    const scale = text.startsWith('color(') ? 255 : 1
    return [r * scale, g * scale, b * scale, alpha]
  }
  const over = ([r, g, b, alpha], below) =>
    [r, g, b].map((value, at) => value * alpha + below[at] * (1 - alpha))
  const luminance = (color) => {
    const [r, g, b] = color.map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = (element) => {
    const color = colorOf(getComputedStyle(element).backgroundColor)
    if (color[3] === 1 || element.parentElement === null) return color.slice(0, 3)
    return over(color, ground(element.parentElement))
  }
  const faint = []
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
    if (!hasText || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue
    const behind = ground(element)
    const [dim, bright] = [luminance(over(colorOf(getComputedStyle(element).color), behind)), luminance(behind)]
      .sort((a, b) => a - b)
    if ((bright + 0.05) / (dim + 0.05) < 4.5) faint.push(element.outerHTML.slice(0, 120))
  }
  return faint
})()`

test('on paper stand the figures and what they are of, in dark on light, without what could be pressed', async () => {
  await using dir = await makeTempDir()
  writePageData(dir.path, 'day')
  await using dashboard = await startDashboardProcess({ directory: dir.path })
  await using opened = await openDashboardPage(dashboard, {
    path: '/?range=6h&errors_only=true',
    colorScheme: 'dark',
  })
  const { page, button } = opened
  await untilReady(page)
  await page.emulateMedia({ media: 'print' })
  for (const words of ['6h', 'Errors only']) assert.ok(await button(words).isVisible(), words)
  for (const words of ['24h', 'All models', 'Table', 'Refresh', 'Notes', 'Help']) {
    assert.equal(await page.getByRole('button', { name: words, exact: true }).count(), 0, words)
  }
  for (const words of ['Gateway', 'Report']) {
    assert.equal(await page.getByRole('link', { name: words, exact: true }).count(), 0, words)
  }
  const ground = await page.evaluate<string>(
    'getComputedStyle(document.querySelector(".card")).backgroundColor',
  )
  assert.equal(ground, 'rgb(255, 255, 255)')
})
