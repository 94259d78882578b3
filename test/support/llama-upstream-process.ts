import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port.ts'

const program = fileURLToPath(new URL('llama-upstream.ts', import.meta.url))

/** An upstream like llama.cpp's server, in a process of its own that can be killed, frozen and started again on its port. */
export class LlamaUpstream implements AsyncDisposable {
  readonly origin: string
  readonly #port: number
  readonly #slots: number
  #child: ChildProcess | null = null

  private constructor(port: number, slots: number) {
    this.#port = port
    this.#slots = slots
    this.origin = `http://127.0.0.1:${port}`
  }

  static async start(slots = 4): Promise<LlamaUpstream> {
    const upstream = new LlamaUpstream(await freePort(), slots)
    await upstream.startAgain()
    return upstream
  }

  async startAgain(): Promise<void> {
    const child = spawn(process.execPath, [program, String(this.#port), String(this.#slots)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    child.once('exit', () => reject(new Error('the upstream has ended')))
    child.stdout.once('data', () => resolve())
    await promise
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}
