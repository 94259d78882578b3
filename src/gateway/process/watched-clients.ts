import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ClientUse } from '../../api/clients.ts'
import type { Warning } from '../../call/call-sink.ts'
import type { ClientsFile } from '../../options/clients-file.ts'
import { watchPath } from '../../lib/watch-path.ts'
import type { ClientLimits, UsedByClient } from '../admission/client-limits.ts'

const lookEveryMs = 500

/** The file of what people said of clients; null, and nothing of it is loaded, if there is none. */
export async function openClients(folder: string): Promise<ClientsFile | null> {
  if (!existsSync(pathIn(folder))) return null
  const { ClientsFile } = await import('../../options/clients-file.ts')
  return new ClientsFile(folder)
}

/** Keeps what people said of clients in force, as they change it. */
export class WatchedClients {
  readonly #folder: string
  readonly #limits: ClientLimits
  #file: ClientsFile | null
  /** Looks no more. */
  readonly close: () => void

  /** `told` is what a predecessor knows of what clients used. */
  constructor(folder: string, file: ClientsFile | null, limits: ClientLimits, told: readonly UsedByClient[]) {
    this.#folder = folder
    this.#limits = limits
    this.#file = file
    if (file?.look() === true) this.#limits.apply(new Map(Object.entries(file.content)), told)
    this.close = watchPath(pathIn(folder), lookEveryMs, () => void this.look())
  }

  /** Reads the file again, if it is another one than before; what it says is in force when this resolves. Never rejects. */
  async look(): Promise<void> {
    this.#file ??= await openClients(this.#folder)
    const file = this.#file
    if (file?.look() === true) this.#limits.apply(new Map(Object.entries(file.content)))
  }

  /** What is wrong with the file. */
  get warning(): Warning | null {
    const problem = this.#file?.problem ?? null
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

function pathIn(folder: string): string {
  return join(folder, 'clients.json')
}
