import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'

export type { BrowserContext, Page } from 'playwright-core'

/** A Chromium that can be run here. */
export interface BrowserProgram {
  readonly executablePath: string
  /** What it needs in its environment besides ours. */
  readonly env: Readonly<Record<string, string>>
}

/** Where systems put it, in the order of trial. */
const installedPaths = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

const unpackProgram = fileURLToPath(new URL('unpack-chromium.ts', import.meta.url))
const run = promisify(execFile)

/** Where the package's browser is unpacked to: two hundred megabytes, once for each installation. */
const unpackedFolder = fileURLToPath(new URL('../node_modules/.cache/tokenweir-chromium', import.meta.url))

/**
 * `$CHROMIUM_PATH`, or the one of the package `@sparticuz/chromium`, which is pinned and starts faster than a
 * desktop's, or an installed one. Rejects where there is none: a test that needs a browser is never skipped.
 */
export async function findBrowser(): Promise<BrowserProgram> {
  const asked = process.env['CHROMIUM_PATH'] ?? ''
  if (asked !== '') {
    if (await isProgram(asked)) return { executablePath: asked, env: {} }
    throw new Error(`CHROMIUM_PATH names no program: ${asked}. ${waysToGetOne}`)
  }
  if (process.platform === 'linux' && process.arch === 'x64') return unpack()
  for (const executablePath of installedPaths) {
    if (await isProgram(executablePath)) return { executablePath, env: {} }
  }
  throw new Error(`no Chromium was found. ${waysToGetOne}`)
}

const waysToGetOne =
  'Ways to get one: install Chromium or Google Chrome (on Debian: apt-get install chromium); set CHROMIUM_PATH ' +
  'to one that is elsewhere.'

export interface BrowserOptions {
  /** Names that lead to other addresses, in this browser alone: `MAP attacker.test 127.0.0.1`. */
  readonly hostRules?: readonly string[]
}

/** A headless Chromium. What its pages do among one another is not shared with other browsers. */
export interface TestBrowser extends AsyncDisposable {
  readonly version: string
  /** A context of its own: cookies, storage. English, in UTC. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>
}

/** Under a test runner one browser serves all tests of a file, as starting one takes longer than most tests. */
const isShared = process.env['NODE_TEST_CONTEXT'] !== undefined
let shared: Promise<Browser> | null = null
if (isShared) after(async () => (await shared)?.close())

/** `await using browser = await startBrowser()` */
export async function startBrowser({ hostRules = [] }: BrowserOptions = {}): Promise<TestBrowser> {
  const isOwn = !isShared || hostRules.length > 0
  const browser = await (isOwn ? launch(hostRules) : (shared ??= launch([])))
  const contexts: BrowserContext[] = []
  return {
    version: browser.version(),
    newContext: async (options) => {
      // With LANG=C the headless shell reports a locale that Intl refuses.
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options })
      contexts.push(context)
      return context
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(contexts.map((context) => context.close()))
      if (isOwn) await browser.close()
    },
  }
}

async function launch(hostRules: readonly string[]): Promise<Browser> {
  const { executablePath, env } = await findBrowser()
  const rules = hostRules.length === 0 ? [] : [`--host-resolver-rules=${hostRules.join(', ')}`]
  return chromium.launch({
    executablePath,
    headless: true,
    env: { ...process.env, ...env },
    args: [...quiet, ...rules],
  })
}

const quiet = [
  // Root cannot have the sandbox, and the containers that tests run in mostly cannot either.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

async function unpack(): Promise<BrowserProgram> {
  const program = {
    executablePath: join(unpackedFolder, 'chromium'),
    env: {
      LD_LIBRARY_PATH: join(unpackedFolder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(unpackedFolder, 'fonts.conf'),
    },
  }
  if (await isProgram(program.executablePath)) return program
  const above = join(unpackedFolder, '..')
  await mkdir(above, { recursive: true })
  const folder = await mkdtemp(join(above, 'chromium-'))
  // The runtime's name makes it bring libraries (NSS and others), which a bare system has not got.
  const env = { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
  await run(process.execPath, [unpackProgram], { env })
  // Its own font settings name /tmp/fonts, and a browser that finds no font crashes at the first input field.
  await writeFile(
    join(folder, 'fonts.conf'),
    `<fontconfig><dir>${unpackedFolder}/fonts</dir><cachedir>${unpackedFolder}/font-cache</cachedir></fontconfig>`,
  )
  try {
    await rename(folder, unpackedFolder)
  } catch (error) {
    // Another test file was faster.
    await rm(folder, { recursive: true, force: true })
    if (!(await isProgram(program.executablePath))) throw error
  }
  return program
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
