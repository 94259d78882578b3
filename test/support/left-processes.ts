import { readFileSync, readdirSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/** A gateway that a dashboard starts in the background gets few variables; those of the language are among them. */
const marker = 'LC_TEST_FILE'
/** A process that was just killed takes a moment to be gone. */
const limitMs = 5000
const lookEveryMs = 20

/**
 * Fails this process at its end if one that it has started still runs, also one in the background, and ends that. Known by a
 * variable that each process passes on to those that it starts, so on Linux alone.
 */
export function expectNoProcessLeft(): void {
  const isTestFile = isMainThread && !process.execArgv.includes('--test') && process.env[marker] === undefined
  if (!isTestFile || process.platform !== 'linux') return
  const own = String(process.pid)
  process.env[marker] = own
  process.once('exit', () => {
    const deadline = performance.now() + limitMs
    let left = processesWith(`${marker}=${own}`)
    while (left.length > 0 && performance.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookEveryMs)
      left = processesWith(`${marker}=${own}`)
    }
    for (const pid of left) {
      console.error(`The test has left process ${pid} behind: ${read(pid, 'cmdline').replaceAll('\0', ' ')}`)
      process.kill(pid, 'SIGKILL')
      process.exitCode = 1
    }
  })
}

function processesWith(variable: string): readonly number[] {
  const numbers = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
  return numbers.filter((pid) => pid !== process.pid && read(pid, 'environ').split('\0').includes(variable))
}

/** Empty for a process that is gone, has ended, or is another user's. */
function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}
