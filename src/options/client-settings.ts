import { isFingerprint } from '../call/key-fingerprint.ts'
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

/** More would slow down who looks at each of them. */
const mostClients = 1000

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

/** The whole file. */
export const clientSettings: json.JsonCheck<ClientSettings> = json.described<ClientSettings>(
  undefined,
  (value) => {
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
  },
)

/** The body of a change. */
export const clientChange: json.JsonCheck<ClientChange> = json.object<ClientChange>({
  max_concurrent: json.optional(json.orNull(fields.max_concurrent)),
  token_limit: json.optional(json.orNull(fields.token_limit)),
  name: json.optional(json.orNull(fields.name)),
})

function checked<T>(check: json.JsonCheck<T>, value: unknown, path: string[], at: 'name' | 'value'): void {
  try {
    check(value)
  } catch (error) {
    if (!(error instanceof json.JsonValueError)) throw error
    throw new json.JsonValueError(error.flaw, { path, at })
  }
}
