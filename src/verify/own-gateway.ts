import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const listening = /listening on (http:\/\/\S+?),/

/**
 * Starts a gateway of this package, in a process and a folder of its own, on a free port of the loopback interface.
 * Rejects with its last words if it does not come up.
 */
export async function startOwnGateway(
  command: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<AsyncDisposable & { readonly origin: string }> {
  await using unwinding = new AsyncDisposableStack()
  const folder = unwinding.use(mkdtempDisposableSync(join(tmpdir(), 'tokenweir-verify-'))).path
  const own = [
    '--port=0',
    '--host=127.0.0.1',
    `--db=${join(folder, 'calls.db')}`,
    `--pid-file=${join(folder, 'gateway.pid')}`,
    '--raw-log=off',
    '--otlp-endpoint=none',
    '--otlp-traces-endpoint=none',
  ]
  const [program = '', ...first] = command
  const child = spawn(program, [...first, ...args, ...own], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  unwinding.defer(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill()) await once(child, 'exit')
  })
  const origin = await originOf(child)
  const running = unwinding.move()
  return { origin, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

function originOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const listen = (text: string): void => {
      said += text
      const origin = listening.exec(said)?.[1]
      if (origin !== undefined) resolve(origin)
    }
    child.stdout?.setEncoding('utf8').on('data', listen)
    child.stderr?.setEncoding('utf8').on('data', listen)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`the gateway did not start: ${said.trim()}`)))
  })
}
