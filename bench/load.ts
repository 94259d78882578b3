import { ChildProgram } from './child-program.ts'
import { cpuUs } from './process-figures.ts'
import { Waits } from './waits.ts'
import type { LoadCommand, LoadReport, UpstreamCommand, UpstreamReport } from './programs/program-messages.ts'

/** The client's counts while a process's CPU time was read. */
export interface Counted {
  readonly units: number
  /** Reads of the client's sockets: below `units`, some events came merged. */
  readonly reads: number
  readonly failed: number
  readonly perS: number
  readonly cpuUsPerUnit: number
  /** For an answer, the time since its request. For an event, the time since the last one, or what `openStreams` was given. */
  readonly waits: Waits
}

type CallsOptions = Omit<Extract<LoadCommand, { readonly do: 'calls' }>, 'do'>
type OpenOptions = Omit<Extract<LoadCommand, { readonly do: 'open' }>, 'do'>
type StreamsOptions = Omit<Extract<LoadCommand, { readonly do: 'streams' }>, 'do'>

/** The load generator and the upstream, each in a process of its own. */
export class Load implements Disposable {
  readonly #upstream = new ChildProgram<UpstreamCommand, UpstreamReport>('fast-upstream')
  readonly #client = new ChildProgram<LoadCommand, LoadReport>('load-generator')
  #upstreamPort = 0

  /** The upstream's port, once both run. */
  async start(): Promise<number> {
    this.#upstreamPort = (await this.#upstream.next('listening')).listening
    await this.#client.next('ready')
    return this.#upstreamPort
  }

  /** Calls without a pause; `pid` is the process whose CPU time is divided among them. */
  calls(pid: number, command: CallsOptions): Promise<Counted> {
    this.#client.tell({ do: 'calls', ...command })
    return this.#counted(pid)
  }

  /** Streams that end, one after the other; whole ones are the units. */
  streams(pid: number, command: StreamsOptions): Promise<Counted> {
    this.#client.tell({ do: 'streams', ...command })
    return this.#counted(pid)
  }

  /** Calls per second without a proxy. */
  async directRate(clients: number, ms: number): Promise<number> {
    return (
      await this.calls(process.pid, { port: this.#upstreamPort, clients, warmMs: 300, ms, maxPerS: 1e9 })
    ).perS
  }

  /** Opens streams; throws if one does not open. */
  async openStreams(command: OpenOptions): Promise<void> {
    this.#client.tell({ do: 'open', ...command })
    const { open } = await this.#client.next('open')
    if (open < command.streams) throw new Error(`only ${open} of ${command.streams} streams opened`)
  }

  /** Sets the pace of every open stream. */
  async pace(eventsPerStreamS: number): Promise<void> {
    this.#upstream.tell({ eventsPerStreamS })
    await this.#upstream.next('openStreams')
  }

  events(pid: number, ms: number): Promise<Counted> {
    this.#client.tell({ do: 'count', ms })
    return this.#counted(pid)
  }

  async closeStreams(): Promise<void> {
    await this.pace(0)
    this.#client.tell({ do: 'close' })
    await this.#client.next('closed')
  }

  async #counted(pid: number): Promise<Counted> {
    await this.#client.next('counting')
    const before = cpuUs(pid)
    const { counted, reads, failed, elapsedMs, waitsMs } = await this.#client.next('counted')
    const spent = cpuUs(pid) - before
    return {
      units: counted,
      reads,
      failed,
      perS: (counted / elapsedMs) * 1000,
      cpuUsPerUnit: spent / counted,
      waits: new Waits(waitsMs),
    }
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]()
    this.#upstream[Symbol.dispose]()
  }
}
