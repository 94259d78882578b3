import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { pagePaths } from '../../src/dashboard/http/page-assets.ts'
import { startDashboardProcess } from '../support/dashboard-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { themeViolations, violations } from './axe-violations.ts'
import { openDashboardPage, startByButton, untilReady, untilStill } from './dashboard-page.ts'
import { writeRuns } from './session-data.ts'
import { dashboardOver } from './shared-dashboard.ts'

const themes = [
  ['light', violations],
  ['dark', themeViolations],
] as const

for (const state of ['empty', 'three', 'incident'] as const) {
  test(`axe finds nothing in any view without a gateway, in light and dark: ${state}`, async () => {
    await using opened = await openDashboardPage(await dashboardOver(state), { bypassCSP: true })
    const { page } = opened
    for (const path of pagePaths) {
      await page.goto(new URL(path, page.url()).href)
      await untilReady(page)
      for (const [colorScheme, find] of themes) {
        await page.emulateMedia({ colorScheme })
        await untilStill(page)
        assert.deepEqual(await find(page), [], `${path} ${colorScheme}`)
      }
    }
  })
}

test('axe finds nothing in the Settings and Gateway views while the gateway runs: with everything open, wrong and asked', async () => {
  await using dashboard = await startDashboardProcess()
  const options = { path: '/gateway', bypassCSP: true } as const
  await using opened = await openDashboardPage(dashboard, { ...options, expected: / 400 / })
  const { page } = opened
  await startByButton(opened)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('more options, set by flag or environment variable').click()
  await page.locator('#option-max_concurrent').fill('0')
  await opened.button('Save').click()
  await opened.untilText('option-max_concurrent-error', /./)
  for (const [colorScheme, find] of themes) {
    await page.emulateMedia({ colorScheme })
    await untilStill(page)
    // What is half below the bar is too small a target, wherever a page stands.
    await page.evaluate('scrollTo(0, 0)')
    assert.deepEqual(await find(page), [], colorScheme)
  }
  await page.getByRole('link', { name: 'Gateway', exact: true }).click()
  await opened.button('Stop').click()
  await page.getByRole('dialog').waitFor()
  assert.deepEqual(await violations(page), [])
})

test('axe finds nothing in the Costs view with a price open, and in its dialogs', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { path: '/costs', bypassCSP: true })
  const { page } = opened
  await untilReady(page)
  const assertNone = async (what: string): Promise<void> => {
    for (const [colorScheme, find] of themes) {
      await page.emulateMedia({ colorScheme })
      await untilStill(page)
      assert.deepEqual(await find(page), [], `${what} ${colorScheme}`)
    }
  }
  await page.getByRole('button', { name: 'gpt-5.1-mini', exact: true }).first().click()
  await assertNone('a price')
  await page.getByRole('button', { name: 'Change gpt-5.1-mini' }).first().click()
  await page.getByText('More', { exact: true }).click()
  await page.getByLabel(/^Input,/).fill('much')
  await opened.button('Save').click()
  await page
    .getByLabel(/^Input,/)
    .and(page.locator(':focus'))
    .waitFor()
  // Else the bar lies over half of a button above the form.
  await page.evaluate('scrollTo(0, 0)')
  await assertNone('setting a price')
  await page.keyboard.press('Escape')
  const figures = { calls: 2, before_usd: null, after_usd: 1.5, newly_priced: 2, newly_unpriced: 0 }
  const days = [{ day: '2026-11-21', model: 'gpt-5.1-mini', ...figures }]
  await page.route(/\/api\/costs\/reprice/, (route) => route.fulfill({ json: { days, ...figures } }))
  await opened.button('Recalculate costs…').click()
  await page.getByRole('region', { name: 'Changes' }).waitFor()
  await assertNone('what would change')
})

test('every view fits every width, has targets that can be hit, and is light or dark as its reader likes', async () => {
  const dashboard = await dashboardOver('incident')
  await using opened = await openDashboardPage(dashboard, { reducedMotion: 'reduce' })
  const { page } = opened
  for (const path of pagePaths) {
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
})

test('every control can be reached with the Tab key, and is not under the bar then', async () => {
  const dashboard = await dashboardOver('three')
  await using opened = await openDashboardPage(dashboard, { reducedMotion: 'reduce' })
  const { page } = opened
  for (const path of pagePaths) {
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

test('on paper stand the figures and what they are of, in dark on light, without what could be pressed', async () => {
  const dashboard = await dashboardOver('day')
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

const assets = new URL('../../dist/ui/assets/', import.meta.url)
const sheets = readdirSync(assets)
  .filter((name) => name.endsWith('.css'))
  .map((name) => `/assets/${name}`)

/** Loads the styles of all other views, and answers what that changed in elements that stand there already. */
const changedByOtherSheets = `(async () => {
  const names = [
    'display', 'position', 'float', 'color', 'backgroundColor', 'fontSize', 'fontWeight', 'lineHeight', 'textAlign',
    'whiteSpace', 'textTransform', 'textDecorationLine', 'listStyleType', 'paddingTop', 'paddingRight',
    'paddingBottom', 'paddingLeft', 'borderTopWidth', 'borderBottomWidth', 'borderTopColor', 'borderRadius', 'minHeight',
    'maxWidth', 'columnGap', 'rowGap', 'overflowX', 'overflowY', 'opacity', 'visibility', 'zIndex', 'boxShadow',
  ]
  const look = (element) => {
    const style = getComputedStyle(element)
    return names.map((name) => name + ': ' + style[name])
  }
  const before = [...document.querySelectorAll('body *')].map((element) => [element, look(element)])
  const loaded = new Set([...document.styleSheets].map(({ href }) => new URL(href).pathname))
  const others = ${JSON.stringify(sheets)}.filter((href) => !loaded.has(href))
  await Promise.all(others.map((href) => new Promise((resolve, reject) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href })
    link.onload = resolve
    link.onerror = () => reject(new Error(href))
    document.head.append(link)
  })))
  return before.flatMap(([element, was]) => {
    const is = look(element)
    const changed = element.isConnected ? was.flatMap((one, at) => one === is[at] ? [] : [one + ' became ' + is[at]]) : []
    return changed.length === 0 ? [] : [element.tagName + '.' + element.getAttribute('class') + ' ' + changed.join('; ')]
  }).slice(0, 5)
})()`

test('each view has all its styles when it is opened first', async (context) => {
  await using folder = await makeTempDir()
  writeRuns(folder.path, [{ session: 'twenty', calls: 20, agoMs: 9_000_000 }])
  await using dashboard = await startDashboardProcess({ directory: folder.path })
  for (const path of [...pagePaths, '/sessions?session=twenty']) {
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await context.test(`${path}, ${width} px wide`, async () => {
        const options = {
          viewport: { width, height },
          bypassCSP: true,
          reducedMotion: 'reduce',
          path,
        } as const
        await using opened = await openDashboardPage(dashboard, options)
        await untilReady(opened.page)
        assert.deepEqual(await opened.page.evaluate<string[]>(changedByOtherSheets), [])
      })
    }
  }
})

test('signs and boxes grow with the text', async () => {
  for (const path of ['/compare', '/alerts']) {
    await using opened = await openDashboardPage(await dashboardOver('incident'), { path })
    const { page } = opened
    await untilReady(page)
    const signs = `[...document.querySelectorAll('.top-bar img, svg.icon, .state-mark, [type="checkbox"]')]
      .map((sign) => [sign.outerHTML, sign.getBoundingClientRect().width]).filter(([, width]) => width > 0)`
    const before = new Map(await page.evaluate<[string, number][]>(signs))
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    await untilStill(page)
    const after = await page.evaluate<[string, number][]>(signs)
    const small = after.filter(([sign, width]) => width < 2 * (before.get(sign) ?? 0) - 0.5)
    assert.ok(after.length > 4)
    assert.deepEqual(small, [], path)
  }
})
