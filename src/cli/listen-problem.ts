import { codeOf, messageOf } from '../lib/errors.ts'
import { CommandError, exitCode } from './exit-code.ts'

/** Why nothing could listen, from a socket's error; `flag` is the one that chooses the port. */
export function listenProblem(error: unknown, host: string, port: number, flag: string): CommandError {
  const code = codeOf(error)
  if (code === 'EADDRINUSE') {
    const message = `port ${port} is in use; choose another with ${flag}, or 0 for a free one`
    return new CommandError(message, exitCode.portInUse)
  }
  const failed = `cannot listen on ${host}:${port}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const hostFlag = flag.replace('port', 'host')
    const message = `${failed}: this machine has no such address; use ${hostFlag} 127.0.0.1`
    return new CommandError(message, code === 'EADDRNOTAVAIL' ? exitCode.fault : exitCode.usage)
  }
  if (code === 'EACCES') {
    return new CommandError(`${failed}: this user may not use that port; choose another with ${flag}`)
  }
  return new CommandError(`${failed}: ${messageOf(error)}`)
}
