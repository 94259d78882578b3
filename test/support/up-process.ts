import { type CommandProcess, type CommandProcessOptions, startCommandProcess } from './command-process.ts'

const dashboardOn = /dashboard on (http:\/\/127\.0\.0\.1:\d+)/
const gatewayOn = /gateway {2}(http:\/\/127\.0\.0\.1:\d+)\/v1, forwarding to/
const startLimitMs = 20_000

/** The real `tokenweir up`, or `demo`: dashboard and gateway. Stopped in order at the end, so that no gateway stays. */
export interface UpProcess extends AsyncDisposable {
  readonly command: CommandProcess
  /** `http://127.0.0.1:<port>` of each. */
  readonly dashboard: string
  readonly gateway: string
}

/** `await using up = await startUpProcess({ directory, args: ['--upstream', …] })`; on any free ports of 127.0.0.1. */
export async function startUpProcess(options: CommandProcessOptions, name = 'up'): Promise<UpProcess> {
  const args = [name, '--port', '0', '--host', '127.0.0.1', '--dashboard-port', '0', ...options.args]
  const command = startCommandProcess({ ...options, args })
  const stop = async (): Promise<void> => {
    await command.stop('SIGINT').catch(() => undefined)
    await command[Symbol.asyncDispose]()
  }
  try {
    const [, dashboard = ''] = await command.waitForOutput(dashboardOn, startLimitMs)
    const [, gateway = ''] = await command.waitForOutput(gatewayOn, startLimitMs)
    return { command, dashboard, gateway, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}
