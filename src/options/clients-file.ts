import { join } from 'node:path'
import { entryName } from '../call/key-fingerprint.ts'
import { ValidatedJsonFile } from './validated-json-file.ts'
import { type ClientChange, type ClientSettings, clientSettings } from './client-settings.ts'

/** The file of clients' limits and keys' names, beside the database. */
export class ClientsFile extends ValidatedJsonFile<ClientSettings> {
  constructor(folder: string) {
    super(join(folder, 'clients.json'), {
      topic: 'clients',
      schema: clientSettings,
      empty: {},
      invalid: { code: 'invalid_client', paramOf: () => 'name' },
    })
  }

  /** Changes the settings of one client. Rejects with `JsonFileError`. */
  change(client: string, change: ClientChange): Promise<void> {
    const of = entryName(client)
    return this.update((before) => {
      const changed = new Map(Object.entries({ ...before[of], ...change }))
      for (const [name, value] of changed) if (value === null || value === undefined) changed.delete(name)
      const others = Object.entries(before).filter(([name]) => name !== of)
      const own = changed.size === 0 ? [] : [[of, Object.fromEntries(changed)] as const]
      return Object.fromEntries([...others, ...own])
    })
  }
}
