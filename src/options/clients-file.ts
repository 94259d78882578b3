import { join } from 'node:path'
import { CodedError } from '../lib/errors.ts'
import { CheckedFile, type NotChanged } from './checked-file.ts'
import {
  type ClientChange,
  type ClientSetting,
  type ClientSettings,
  clientSettings,
} from './client-settings.ts'
import { JsonValueError, pathText } from './json-check.ts'

/** Why settings were not changed. */
export class ClientSettingsError extends CodedError<
  'broken_clients_file' | 'clients_not_kept' | 'clients_busy' | 'invalid_client'
> {}

/** The file of clients' limits and keys' names, beside the database. */
export class ClientsFile extends CheckedFile<ClientSettings> {
  constructor(folder: string) {
    super(join(folder, 'clients.json'), clientSettings, {})
  }

  /** Changes what stands of one client. Rejects with {@link ClientSettingsError}. */
  async change(of: string, change: ClientChange): Promise<void> {
    using lock = await this.lock()
    if (lock === null) {
      throw new ClientSettingsError('clients_busy', `${this.path} is being changed by another process.`)
    }
    this.write((before) => {
      const changed = new Map(Object.entries({ ...before[of], ...change }))
      for (const [name, value] of changed) if (value === null || value === undefined) changed.delete(name)
      const others = Object.entries(before).filter(([name]) => name !== of)
      const entry: [string, ClientSetting][] = changed.size === 0 ? [] : [[of, Object.fromEntries(changed)]]
      try {
        return clientSettings(Object.fromEntries([...others, ...entry]))
      } catch (error) {
        if (!(error instanceof JsonValueError)) throw error
        const words = `${pathText(error.path)} ${error.flaw}`.trim()
        throw new ClientSettingsError('invalid_client', `${words}.`, { param: 'name' })
      }
    })
  }

  protected override refusal(why: NotChanged, message: string): ClientSettingsError {
    return new ClientSettingsError(why === 'broken' ? 'broken_clients_file' : 'clients_not_kept', message)
  }
}
