import { join } from 'node:path'
import { CodedError } from '../lib/errors.ts'
import { takeFileLock } from '../lib/file-lock.ts'
import { CheckedFile, type NotChanged } from './checked-file.ts'
import * as json from './json-check.ts'

/** What a person has said of a client, or of the key with a fingerprint. */
export interface ClientSetting {
  /** Slots that its calls may hold together. */
  readonly max_concurrent?: number | undefined
  /** Tokens of any 24 hours. */
  readonly token_limit?: number | undefined
  /** Of a key's calls, if they name no client themselves. */
  readonly name?: string | undefined
}

/** By the name of a client or the fingerprint of a key. */
export type ClientSettings = Readonly<Record<string, ClientSetting>>

/** A change of one of them; null takes a value away. */
export type ClientChange = { readonly [Name in keyof ClientSetting]: ClientSetting[Name] | null }

/** Why settings were not changed. */
export class ClientSettingsError extends CodedError<
  'broken_clients_file' | 'clients_not_kept' | 'clients_busy' | 'invalid_client'
> {}

/** More would slow down who looks at each of them. */
const mostClients = 1000
const lockLimitMs = 5000

const label = json.only(
  'a text of 1 to 200 characters without control characters',
  (value): value is string => typeof value === 'string' && /^(?=.*\S)[^\p{Cc}]{1,200}$/u.test(value),
  { type: 'string', minLength: 1, maxLength: 200 },
)
const fields = {
  max_concurrent: json.whole(1, 100_000),
  token_limit: json.whole(1, Number.MAX_SAFE_INTEGER),
  name: label,
}

const setting = json.object<ClientSetting>(
  {
    max_concurrent: json.optional(fields.max_concurrent),
    token_limit: json.optional(fields.token_limit),
    name: json.optional(fields.name),
  },
  { remarks: true },
)

const settings = json.mapOf(setting)

const inFile = json.described<ClientSettings>(undefined, (value) => {
  const read = settings(value)
  const entries = Object.entries(read)
  if (entries.length > mostClients) {
    throw new json.JsonValueError(`has ${entries.length} clients; ${mostClients} are the most`)
  }
  for (const [of, { name }] of entries) {
    checked(label, of, [of], 'name')
    if (name !== undefined && !isFingerprint(of)) {
      const flaw = 'is only for a fingerprint of a key: 8 hexadecimal digits'
      throw new json.JsonValueError(flaw, { path: [of, 'name'], at: 'name' })
    }
  }
  return read
})

/** The body of a change. */
export const clientChange: json.JsonCheck<ClientChange> = json.object<ClientChange>({
  max_concurrent: json.optional(orNull(fields.max_concurrent)),
  token_limit: json.optional(orNull(fields.token_limit)),
  name: json.optional(orNull(fields.name)),
})

/** Whether a name is the fingerprint of a key, as the rows of its calls have it. */
export function isFingerprint(of: string): boolean {
  return /^[0-9a-f]{8}$/.test(of)
}

/** The file of clients' limits and keys' names, beside the database. */
export class ClientsFile extends CheckedFile<ClientSettings> {
  constructor(folder: string) {
    super(join(folder, 'clients.json'), inFile, {})
  }

  /** Changes what stands of one client. Rejects with {@link ClientSettingsError}. */
  async change(of: string, change: ClientChange): Promise<void> {
    using lock = await takeFileLock(`${this.path}.lock`, lockLimitMs).catch((error: unknown) => {
      throw this.refusal('not_kept', String(error))
    })
    if (lock === null) {
      throw new ClientSettingsError('clients_busy', `${this.path} is being changed by another process.`)
    }
    this.write((before) => {
      const changed = new Map(Object.entries({ ...before[of], ...change }))
      for (const [name, value] of changed) if (value === null || value === undefined) changed.delete(name)
      const others = Object.entries(before).filter(([name]) => name !== of)
      const entry: [string, ClientSetting][] = changed.size === 0 ? [] : [[of, Object.fromEntries(changed)]]
      try {
        return inFile(Object.fromEntries([...others, ...entry]))
      } catch (error) {
        if (!(error instanceof json.JsonValueError)) throw error
        const words = `${json.pathText(error.path)} ${error.flaw}`.trim()
        throw new ClientSettingsError('invalid_client', `${words}.`, { param: 'name' })
      }
    })
  }

  protected override refusal(why: NotChanged, message: string): ClientSettingsError {
    return new ClientSettingsError(why === 'broken' ? 'broken_clients_file' : 'clients_not_kept', message)
  }
}

function orNull<T>(check: json.JsonCheck<T>): json.JsonCheck<T | null> {
  const schema = { anyOf: [check.schema ?? {}, { type: 'null' }] }
  return json.described(schema, (value) => (value === null ? null : check(value)))
}

function checked<T>(check: json.JsonCheck<T>, value: unknown, path: string[], at: 'name' | 'value'): void {
  try {
    check(value)
  } catch (error) {
    if (!(error instanceof json.JsonValueError)) throw error
    throw new json.JsonValueError(error.flaw, { path, at })
  }
}
