import type { ClientRow, ClientUse } from '../../src/api/clients.ts'

/** Returns the name of a client. */
export function nameOf({ client, is_key: isKey }: Pick<ClientRow, 'client' | 'is_key'>): string {
  if (client === '') return 'No name, no key'
  return isKey ? `Key ${client}` : client
}

/** Returns the order of the queue in words. */
export function orderWords(queueOrder: string | null | undefined): string {
  return queueOrder === 'fair' ? 'clients take turns' : 'first come, first served'
}

/** Returns the rows with the gateway's current figures, in the same order. `uses` is null if no gateway runs. */
export function withUse(rows: readonly ClientRow[], uses: readonly ClientUse[] | null): readonly ClientRow[] {
  if (uses === null) return rows
  const byName = new Map(uses.map((use) => [use.client, use]))
  return rows.map((row) => {
    const use = byName.get(row.client)
    if (use === undefined) return Object.assign({ ...row }, { active: 0, waiting: 0 })
    const { token_limit: limit, used_tokens: used } = use
    const remaining_tokens = limit === null || used === null ? null : limit - used
    return { ...row, ...use, remaining_tokens }
  })
}
