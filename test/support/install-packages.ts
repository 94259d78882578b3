import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/** `npm ci`, or another of its commands, in a folder, unless what is installed is what its lock file says; throws if npm fails. */
export function installPackages(folder: string, args: readonly string[] = [], command = 'ci'): void {
  const lock = readFileSync(`${folder}/package-lock.json`, 'utf8')
  const installed = `${folder}/node_modules/.installed-lock.json`
  if (readText(installed) === lock) return
  const { status } = spawnSync('npm', [command, ...args], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`npm ${command} in ${folder} failed`)
  writeFileSync(installed, lock)
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
