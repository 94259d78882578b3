import { spawn } from 'child_process'
import { existsSync } from 'fs'
import { fileURLToPath } from 'url'

/** Runs the command on the Node that `npm ci` brought to a clone. False if there is none. */
export function runOnNewerNode() {
  const node = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url))
  if (existsSync(node) !== true) return false
  const command = fileURLToPath(new URL('tokenweir.js', import.meta.url))
  const child = spawn(node, [command, ...process.argv.slice(2)], { stdio: 'inherit' })
  // A terminal sends Ctrl-C to both, and a second one would stop the gateway at once.
  const hasTerminal = process.stdin.isTTY === true || process.stdout.isTTY === true
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM']) {
    process.on(signal, () => {
      if (signal === 'SIGTERM' || !hasTerminal) child.kill(signal)
    })
  }
  child.on('error', (error) => {
    process.stderr.write(`tokenweir: ${node} cannot be started: ${error.message}\n`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code
      return
    }
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
  return true
}
