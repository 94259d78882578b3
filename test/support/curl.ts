import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** `nobody` of Debian and most others: a user of this machine that is neither us nor root. */
export const nobodysId = 65_534

/** Why a test that acts as another user cannot run here, or false. */
export const cannotActAsOthers: string | false =
  process.getuid?.() === 0 ? false : 'only root can act as another user: run this test as root'

export interface CurlAnswer {
  /** 0 where nothing was answered. */
  readonly status: number
  readonly body: string
}

/** What curl gets. Options are curl's own; of an answer without an end, what comes within five seconds. */
export async function curl(
  url: string,
  options: readonly string[] = [],
  userId?: number,
): Promise<CurlAnswer> {
  const fixed = ['--silent', '--max-time', '5', '--noproxy', '*', '--write-out', '\n%{http_code}']
  const child = spawn('curl', [...fixed, ...options, url], {
    // A user who may not enter our folder cannot begin there.
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  const statusAt = output.lastIndexOf('\n')
  return { status: Number(output.slice(statusAt + 1)), body: output.slice(0, statusAt) }
}
