import * as v from 'valibot'
import { entryName, isFingerprint } from '../call/key-fingerprint.ts'
import { limitChanges, limitSettings } from './limit-settings.ts'
import {
  type Checked,
  JsonValueError,
  type MembersOf,
  type Schema,
  be,
  mapOf,
  object,
  objectWithRemarks,
  rule,
  textLike,
} from './schema.ts'

/** Most clients with settings, because some code visits each of them. */
const mostClients = 1000

const allowedLabel = 'a text of 1 to 200 characters without control characters'
const labelPattern = /^(?=.*\S)[^\p{Cc}]{1,200}$/u
const label = textLike(allowedLabel, labelPattern)

/** The settings of a client or a key. */
const members = {
  ...limitSettings,
  /** The client name for a key's calls that name no client. */
  name: v.optional(label),
}

export type ClientSetting = MembersOf<typeof members>

/** Settings by client name or key fingerprint. */
export type ClientSettings = Readonly<Record<string, ClientSetting>>

/** The schema of the whole file. */
export const clientSettings: Schema<ClientSettings> = v.pipe(
  mapOf(objectWithRemarks(members)),
  rule((clients) => {
    const entries = Object.entries(clients)
    if (entries.length > mostClients) {
      throw new JsonValueError(`has ${entries.length} clients; ${mostClients} are the most`)
    }
    for (const [of, { name }] of entries) {
      if (!labelPattern.test(of)) throw new JsonValueError(be(allowedLabel)({ input: of }), [of], 'name')
      if (name !== undefined && !isFingerprint(entryName(of))) {
        const flaw = 'is only for a fingerprint of a key: 8 hexadecimal digits'
        throw new JsonValueError(flaw, [of, 'name'], 'name')
      }
    }
  }),
  v.transform((clients) => {
    const entries = new Map<string, ClientSetting>()
    for (const [of, setting] of Object.entries(clients)) {
      const name = entryName(of)
      entries.set(name, { ...entries.get(name), ...setting })
    }
    return Object.fromEntries(entries)
  }),
)

/** A change of the settings of a client or key; null removes a value. */
export const clientChange = object({
  ...limitChanges,
  name: v.optional(v.nullable(label)),
})

export type ClientChange = Readonly<Checked<typeof clientChange>>
