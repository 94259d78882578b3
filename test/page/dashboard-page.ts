import assert from 'node:assert/strict'
import { afterEach } from 'node:test'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { startBrowser } from '../support/browser.ts'

const waitLimitMs = 30_000
const lookEveryMs = 20

/**
 * The dashboard's page in a browser. A test fails if anything goes wrong in it: errors on the console, exceptions, breaches of
 * the page's policy (which the browser puts on the console), dialogs of scripts, and requests that left the dashboard's
 * origin.
 */
export interface DashboardPage extends AsyncDisposable {
  readonly page: Page
  /** What a reader sees of a button, by its name. */
  readonly button: (name: string) => Locator
  /** Waits until the Gateway view shows the gateway's state in these words. */
  untilState(words: string): Promise<void>
  /** Waits until the element with this id has a text like this, and answers the text. */
  untilText(id: string, pattern: RegExp): Promise<string>
}

export interface DashboardPageOptions extends BrowserContextOptions {
  /** What to open: `/gateway`, `/calls?errors_only=1`; the Overview unless told. */
  readonly path?: string
  /** By how much the browser's clock is ahead of the machine's; milliseconds. */
  readonly clockAheadMs?: number
  /** What a test has go wrong. */
  readonly expected?: RegExp
}

/** What went wrong in the pages of the test that runs. */
const problems: string[] = []
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  afterEach(() => assert.deepEqual(problems.splice(0), [], 'something went wrong in the page'))
}

/** `await using opened = await openDashboardPage(dashboard, { path: '/calls' })`. Nothing moves in it unless told. */
export async function openDashboardPage(
  { origin }: { readonly origin: string },
  { path = '/', clockAheadMs = 0, expected, ...options }: DashboardPageOptions = {},
): Promise<DashboardPage> {
  await using started = new AsyncDisposableStack()
  const browser = started.use(await startBrowser())
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  if (clockAheadMs !== 0) {
    await context.addInitScript(`globalThis.Date = class extends Date {
      constructor(...given) { given.length === 0 ? super(Date.now()) : super(...given) }
      static now() { return super.now() + ${clockAheadMs} }
    }`)
  }
  const page = await context.newPage()
  const wentWrong = (problem: string): void => {
    if (expected?.test(problem) !== true) problems.push(problem)
  }
  page.setDefaultTimeout(waitLimitMs)
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      wentWrong(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => wentWrong(String(error)))
  page.on('dialog', (dialog) => {
    wentWrong(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) wentWrong(`request to ${request.url()}`)
  })
  await page.goto(`${origin}${path}`)
  // Until it has painted first, Chromium drops what is pressed.
  await page.evaluate(painted)
  const owned = started.move()
  return {
    page,
    button: (name) => page.getByRole('button', { name, exact: true }),
    untilState: async (words) => {
      await page.locator('#gateway-state').getByText(words, { exact: true }).waitFor()
    },
    untilText: async (id, pattern) => {
      const found = page.locator(`#${id}`).filter({ hasText: pattern })
      await found.waitFor({ state: 'attached' }).catch(async (error: unknown) => {
        throw new Error(await waitedInVain(page, `#${id} has ${pattern}`), { cause: error })
      })
      return (await found.textContent()) ?? ''
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Waits until everything that a view shows at first is there, and nothing of it is of a question that was left. */
export async function untilReady(page: Page): Promise<void> {
  await untilTrue(
    page,
    `document.querySelector('main > *:not(h1)') !== null &&
      document.querySelector('.skeleton, main [aria-busy="true"]') === null`,
  )
  await untilStill(page)
}

/** An expression that is over once what there is now has been painted. */
const painted = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

/** Waits until nothing moves or fades any more. */
export async function untilStill(page: Page): Promise<void> {
  await page.evaluate(`${painted}
    .then(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))`)
}

/** Waits until an expression is true in the page. Its policy forbids what would have the browser wait. */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  const deadline = performance.now() + waitLimitMs
  while ((await page.evaluate(expression)) !== true) {
    if (performance.now() > deadline) throw new Error(await waitedInVain(page, expression))
    await page.waitForTimeout(lookEveryMs)
  }
}

async function waitedInVain(page: Page, what: string): Promise<string> {
  return `waited in vain until ${what}; ${page.url()} shows: ${await page.locator('body').innerText()}`
}

/** Presses keys that belong together: the next one does not wait for the answer to the one before. */
export async function pressInTurn(page: Page, keys: Iterable<string>): Promise<void> {
  await Promise.all(Array.from(keys, (key) => page.keyboard.press(key)))
}

/** Starts the gateway by the Gateway view's button, and answers its process id. */
export async function startByButton(opened: DashboardPage): Promise<number> {
  await opened.untilState('Stopped')
  await opened.button('Start').click()
  await opened.untilState('Running')
  const [pid = ''] = /^\d+/.exec(await opened.untilText('process', /^\d+, instance/)) ?? []
  assert.notEqual(pid, '')
  return Number(pid)
}

/** A headless page is always seen, so it is told otherwise. */
export function setHidden(hidden: boolean): string {
  return `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })
    document.dispatchEvent(new Event('visibilitychange'))`
}
