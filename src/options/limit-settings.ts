import * as v from 'valibot'
import { integer } from './schema.ts'

const slots = integer(1, 100_000)
const tokens = integer(1, Number.MAX_SAFE_INTEGER)
export const perMinute = integer(1, Number.MAX_SAFE_INTEGER)

/** Limits of a client, or of an upstream: calls at once, tokens of any 24 hours, requests and tokens a minute. */
export const limitSettings = {
  max_concurrent: v.optional(slots),
  token_limit: v.optional(tokens),
  max_rpm: v.optional(perMinute),
  max_tpm: v.optional(perMinute),
}

/** A change of them; null removes one. */
export const limitChanges = {
  max_concurrent: v.optional(v.nullable(slots)),
  token_limit: v.optional(v.nullable(tokens)),
  max_rpm: v.optional(v.nullable(perMinute)),
  max_tpm: v.optional(v.nullable(perMinute)),
}

type Limits<Value> = { readonly [Name in keyof typeof limitSettings]: Value }

/** The limits of a setting; null for an absent one. */
export function limitsOf(setting: Partial<Limits<number | null | undefined>>): Limits<number | null> {
  const { max_concurrent = null, token_limit = null, max_rpm = null, max_tpm = null } = setting
  return { max_concurrent, token_limit, max_rpm, max_tpm }
}
