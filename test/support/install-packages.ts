import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

/**
 * `npm ci` in a folder, or `npm install` if its `.npmrc` names a day in place of a lock file, unless what is installed
 * is what the folder says; throws if npm fails.
 */
export function installPackages(folder: string, args: readonly string[] = []): void {
  const lock = readText(`${folder}/package-lock.json`)
  const wanted = lock ?? `${readText(`${folder}/package.json`)}${readText(`${folder}/.npmrc`)}`
  const installed = `${folder}/node_modules/.installed-lock.json`
  if (readText(installed) === wanted) return
  const command = lock === null ? 'install' : 'ci'
  const { status } = spawnSync('npm', [command, ...args], { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error(`npm ${command} in ${folder} failed`)
  writeFileSync(installed, wanted)
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
