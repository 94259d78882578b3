import type { ClientRow, ClientsReport, ClientUse } from '../api/clients.ts'
import type { SeenClient } from '../call/call-reader.ts'
import { ControlClient } from '../control/control-client.ts'
import { getOrAdd } from '../lib/get-or-add.ts'
import { isFingerprint } from '../call/key-fingerprint.ts'
import type { ClientChange, ClientSetting } from '../options/client-settings.ts'
import { limitsOf } from '../options/limit-settings.ts'
import { ClientsFile } from '../options/clients-file.ts'

/** The clients with recorded calls, and the time since when their calls are counted (ISO 8601, UTC). */
export interface SeenClients {
  readonly clients: readonly SeenClient[]
  readonly counted_from: string
}

/** The settings of clients and keys, their use in the running gateway, and changes. */
export class Clients {
  readonly #file: ClientsFile
  readonly #control: ControlClient

  /** The file is always in the data folder, also if the control socket is elsewhere. */
  constructor(dataFolder: string) {
    this.#file = new ClientsFile(dataFolder)
    this.#control = new ControlClient(dataFolder)
  }

  async report({ clients, counted_from }: SeenClients): Promise<ClientsReport> {
    this.#file.reloadIfChanged()
    const status = await this.#control.running()
    const settings = new Map(Object.entries(this.#file.content))
    const wordOf = (name: string): string | null => {
      const value = status?.options[name]
      return typeof value === 'string' ? value : null
    }
    return {
      clients: clientRows(clients, settings, status?.health.clients ?? null),
      counted_from,
      file: this.#file.path,
      problem: this.#file.problem,
      budget_action: wordOf('budget_action'),
      queue_order: wordOf('queue_order'),
    }
  }

  /** Saves a change, which a running gateway applies before this resolves. Rejects with `JsonFileError`. */
  async change(of: string, change: ClientChange): Promise<void> {
    await this.#file.change(of, change)
    // A gateway that does not answer reads the file at its next check.
    await this.#control.reloadFiles().catch(() => null)
  }
}

/** The calls of a client. */
interface ClientSums {
  calls: number
  tokens: number
  last: string | null
  readonly keys: Set<string>
}

/** Returns a row for each client, and each key without a name, from calls, settings and the running gateway. */
export function clientRows(
  seenClients: readonly SeenClient[],
  settings: ReadonlyMap<string, ClientSetting>,
  uses: readonly ClientUse[] | null,
): readonly ClientRow[] {
  const nameOf = (key: string | null): string | null =>
    key === null ? null : (settings.get(key)?.name ?? null)
  const inUse = new Map(uses?.map((use) => [use.client, use]))
  const calls = new Map<string, ClientSums>()
  const of = (client: string): ClientSums =>
    getOrAdd(calls, client, () => ({ calls: 0, tokens: 0, last: null, keys: new Set() }))
  for (const { client, key_fingerprint: key, calls: count, tokens, last_at: last } of seenClients) {
    const row = of(client ?? nameOf(key) ?? key ?? '')
    row.calls += count
    row.tokens += tokens
    if (row.last === null || last > row.last) row.last = last
    if (key !== null) row.keys.add(key)
  }
  for (const client of [...settings.keys(), ...inUse.keys()]) of(client)
  const rowOf = ([client, row]: readonly [string, ClientSums]): ClientRow => {
    const setting = settings.get(client) ?? {}
    const limits = limitsOf(setting)
    const use = inUse.get(client)
    const none = uses === null ? null : 0
    const used_tokens = use?.used_tokens ?? null
    return {
      client,
      is_key: isFingerprint(client),
      name: setting.name ?? null,
      keys: [...row.keys].filter((key) => key !== client).sort(),
      calls: row.calls,
      tokens: row.tokens,
      last_at: row.last,
      ...limits,
      active: use?.active ?? none,
      waiting: use?.waiting ?? none,
      used_tokens,
      remaining_tokens:
        limits.token_limit === null || used_tokens === null ? null : limits.token_limit - used_tokens,
    }
  }
  return [...calls]
    .map((entry) => rowOf(entry))
    .sort((a, b) => Number(isLimited(b)) - Number(isLimited(a)) || b.calls - a.calls)
}

function isLimited(row: ClientRow): boolean {
  return Object.values(limitsOf(row)).some((limit) => limit !== null)
}
