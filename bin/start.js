import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

keepCompiled()
/** A clone runs its source, an installed package what was built from it. */
const source = new URL('../src/cli/main.ts', import.meta.url)
const built = new URL('../dist/cli/main.js', import.meta.url)
const { main } = await import(existsSync(source) === true ? source.href : built.href)

await main(process.argv.slice(2), process.env)

/**
 * Keeps what Node compiled for the next start, which halves its time. Not in the folder for temporary files, Node's own
 * choice: there another user could put code in its place. Threads and child processes read the variable.
 */
function keepCompiled() {
  try {
    const folder = process.env.NODE_COMPILE_CACHE ?? join(cacheHome(), 'tokenweir')
    const { directory } = enableCompileCache(folder)
    if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= folder
  } catch {
    // A user whom the system does not know has no home, and starts as before.
  }
}

/** Where the user's programs keep what they can make again (XDG Base Directory Specification). */
function cacheHome() {
  const { XDG_CACHE_HOME = '' } = process.env
  return XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
}
