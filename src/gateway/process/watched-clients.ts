import { join } from 'node:path'
import type { ClientUse } from '../../api/clients.ts'
import type { Warning } from '../../call/call-sink.ts'
import { ClientsFile } from '../../options/clients-file.ts'
import { watchPath } from '../../lib/watch-path.ts'
import type { ClientLimits, UsedByClient } from '../admission/client-limits.ts'

const lookEveryMs = 500

/** Keeps what people said of clients in force, as they change it. */
export class WatchedClients {
  readonly #limits: ClientLimits
  readonly #file: ClientsFile
  /** Looks no more. */
  readonly close: () => void

  /** `told` is what a predecessor knows of what clients used. */
  constructor(folder: string, limits: ClientLimits, told: readonly UsedByClient[]) {
    this.#limits = limits
    this.#file = new ClientsFile(folder)
    this.look(told)
    this.close = watchPath(join(folder, 'clients.json'), lookEveryMs, () => this.look())
  }

  /** Reads the file again, if it is another one than before; what it says is in force when this returns. */
  look(told?: readonly UsedByClient[]): void {
    if (this.#file.look({ ownOnly: true }))
      this.#limits.apply(new Map(Object.entries(this.#file.content)), told)
  }

  /** What is wrong with the file. */
  get warning(): Warning | null {
    const { problem } = this.#file
    if (problem === null) return null
    return {
      code: 'broken_clients_file',
      message: `${problem} The last good names and limits of clients hold`,
    }
  }

  report(): readonly ClientUse[] {
    return this.#limits.report()
  }
}
