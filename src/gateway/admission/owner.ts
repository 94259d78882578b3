import { isFingerprint } from '../../call/key-fingerprint.ts'
import type { Caller } from './admission.ts'

/**
 * The owner of a limit or a budget. The prefix keeps kinds apart: a client chooses its own name, and could choose that of an
 * upstream or a fingerprint.
 */
export type Owner = 'all' | `client:${string}` | `key:${string}` | `upstream:${string}`

/** The owner for a client's name. */
export function clientOwner(name: string): Owner {
  return `client:${name}`
}

/** The owner for the fingerprint of a key. */
export function keyOwner(fingerprint: string): Owner {
  return `key:${fingerprint}`
}

/** The owner for the name of an upstream. */
export function upstreamOwner(name: string): Owner {
  return `upstream:${name}`
}

/** The owner of an entry in the file of clients: a client's name, or a key's fingerprint. */
export function ownerOfEntry(of: string): Owner {
  return isFingerprint(of) ? keyOwner(of) : clientOwner(of)
}

/** The owner of a caller's calls; empty for a call without client and key. */
export function ownerOfCaller({ client, keyFingerprint }: Caller): Owner | '' {
  if (client !== null) return clientOwner(client)
  return keyFingerprint === null ? '' : keyOwner(keyFingerprint)
}

/** The entry of a caller: the one for its key, else the one for its client's name. */
export function entryOf<Entry>(
  { client, keyFingerprint }: Caller,
  entries: { get(owner: Owner): Entry | undefined },
): Entry | undefined {
  const byKey = keyFingerprint === null ? undefined : entries.get(keyOwner(keyFingerprint))
  return byKey ?? (client === null ? undefined : entries.get(clientOwner(client)))
}

/** The client's or upstream's name, or the key's fingerprint. */
export function nameOfOwner(owner: Owner | ''): string {
  return owner.slice(owner.indexOf(':') + 1)
}

/** True if the owner is an upstream. */
export function isUpstream(owner: Owner): boolean {
  return owner.startsWith('upstream:')
}
