import { join } from 'node:path'
import type { ClientUse } from '../../api/clients.ts'
import type { Warning } from '../../call/call-sink.ts'
import { watchPath } from '../../lib/files/watch-path.ts'
import type { ClientSetting } from '../../options/client-settings.ts'
import { ClientsFile } from '../../options/clients-file.ts'
import type { SlotLimiter } from '../admission/slot-limiter.ts'
import type { MinuteSetting } from '../limits/minute-limits.ts'
import { type Owner, ownerOfEntry } from '../admission/owner.ts'

const checkEveryMs = 500
/** Most clients in a report. */
const mostReported = 100

export interface WatchedClientsOptions {
  readonly folder: string
  /** Returns the slots of each upstream. A client's limit applies at each upstream. */
  readonly admissions: () => readonly SlotLimiter[]
  /** Tokens that an owner with an own limit has used; null while unknown. */
  readonly usedBy: (owner: Owner) => number | null
}

/** The settings of clients and keys, from a file that people may change at any time: names, slots, tokens. */
export class WatchedClients {
  readonly #options: WatchedClientsOptions
  readonly #file: ClientsFile
  readonly #unwatch: () => void
  #settings: ReadonlyMap<string, ClientSetting> = new Map()
  /** Called when the settings have changed. */
  onChange = (): void => {}

  constructor(options: WatchedClientsOptions) {
    const { folder } = options
    this.#options = options
    this.#file = new ClientsFile(folder)
    this.reloadIfChanged()
    this.#unwatch = watchPath(join(folder, 'clients.json'), checkEveryMs, () => this.reloadIfChanged())
  }

  /** Stops watching the file. */
  close(): void {
    this.#unwatch()
  }

  /** Reads the file if it has changed, and applies it before this returns. */
  reloadIfChanged(): void {
    if (!this.#file.reloadIfChanged({ ownOnly: true })) return
    this.#settings = new Map(Object.entries(this.#file.content))
    this.limitSlots()
    this.onChange()
  }

  /** Applies the limits of slots. Call it when upstreams were added, too. */
  limitSlots(): void {
    const slots = this.#valuesOf(({ max_concurrent: most }) => most)
    for (const admission of this.#options.admissions()) admission.setLimits(slots)
  }

  /** The names of keys, by fingerprint. */
  get names(): ReadonlyMap<string, string> {
    return this.#valuesOf(({ name }) => name)
  }

  /** The name of a key; null without one. */
  nameOf(keyFingerprint: string): string | null {
    return this.#settings.get(keyFingerprint)?.name ?? null
  }

  /** Tokens of any 24 hours. */
  get tokenLimits(): ReadonlyMap<Owner, number> {
    const limits = this.#valuesOf(({ token_limit: limit }) => limit)
    return new Map([...limits].map(([of, limit]) => [ownerOfEntry(of), limit]))
  }

  /** Requests and tokens a minute. */
  get minuteLimits(): ReadonlyMap<Owner, MinuteSetting> {
    const limited = [...this.#settings].filter(
      ([, { max_rpm, max_tpm }]) => (max_rpm ?? max_tpm) !== undefined,
    )
    return new Map(limited.map(([of, setting]) => [ownerOfEntry(of), setting]))
  }

  /** A warning about a broken file; null if the file is valid. */
  get warning(): Warning | null {
    const { problem } = this.#file
    if (problem === null) return null
    return {
      code: 'broken_clients_file',
      message: `${problem} The last valid names and limits of clients stay in force`,
    }
  }

  /** Clients with calls or limits, the longest queues first. */
  report(): readonly ClientUse[] {
    const { usedBy } = this.#options
    const calls = this.#calls()
    const limited = [...this.#settings].filter(
      ([, { max_concurrent, token_limit }]) => max_concurrent !== undefined || token_limit !== undefined,
    )
    const names = new Set([...calls.keys(), ...limited.map(([of]) => of)])
    return [...names]
      .map((client): ClientUse => {
        const { active, waiting } = calls.get(client) ?? { active: 0, waiting: 0 }
        const { max_concurrent = null, token_limit = null } = this.#settings.get(client) ?? {}
        const used_tokens = usedBy(ownerOfEntry(client))
        return { client, active, waiting, max_concurrent, token_limit, used_tokens }
      })
      .sort((a, b) => b.waiting - a.waiting || b.active - a.active)
      .slice(0, mostReported)
  }

  #calls(): ReturnType<SlotLimiter['byClient']> {
    const calls = new Map<string, { readonly active: number; readonly waiting: number }>()
    for (const admission of this.#options.admissions()) {
      for (const [client, { active, waiting }] of admission.byClient()) {
        const before = calls.get(client) ?? { active: 0, waiting: 0 }
        calls.set(client, { active: before.active + active, waiting: before.waiting + waiting })
      }
    }
    return calls
  }

  /** The values of one member, by owner, of the entries that have it. */
  #valuesOf<V>(of: (setting: ClientSetting) => V | undefined): ReadonlyMap<string, V> {
    const entries = [...this.#settings].map(([name, setting]) => [name, of(setting)] as const)
    return new Map(entries.filter((entry): entry is readonly [string, V & {}] => entry[1] !== undefined))
  }
}
