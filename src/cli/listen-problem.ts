import { codeOf, messageOf } from '../lib/errors.ts'
import { exitCode } from './exit-code.ts'

/** Why nothing could listen, in one line, and what the command ends with. */
export interface ListenProblem {
  readonly message: string
  readonly exitCode: number
}

/** Puts a socket's error into words; `flag` is the one that chooses the port. */
export function listenProblem(error: unknown, host: string, port: number, flag: string): ListenProblem {
  const code = codeOf(error)
  if (code === 'EADDRINUSE') {
    const message = `port ${port} is in use; choose another with ${flag}, or 0 for a free one`
    return { message, exitCode: exitCode.portInUse }
  }
  const failed = `cannot listen on ${host}:${port}`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    const hostFlag = flag.replace('port', 'host')
    const message = `${failed}: this machine has no such address; use ${hostFlag} 127.0.0.1`
    return { message, exitCode: code === 'EADDRNOTAVAIL' ? exitCode.fault : exitCode.usage }
  }
  if (code === 'EACCES') {
    const message = `${failed}: this user may not use that port; choose another with ${flag}`
    return { message, exitCode: exitCode.fault }
  }
  return { message: `${failed}: ${messageOf(error)}`, exitCode: exitCode.fault }
}
