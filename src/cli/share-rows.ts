import { resolve } from 'node:path'
import { systemClock } from '../call/clock.ts'
import type { GatewayValues } from '../options/gateway-options.ts'
import { ShareProcess } from '../share/rows/share-process.ts'
import { databasePlace } from '../store/sqlite/older-proxy.ts'
import { childEnvironment } from '../supervisor/child-environment.ts'
import { type Environment, OptionError } from './parse-options.ts'

/** The address of the shared database. Throws {@link OptionError} if it is missing or cannot be parsed. */
export function shareAddress(env: Environment): string {
  const address = env['TOKENWEIR_SHARE'] ?? ''
  if (!/^postgres(?:ql)?:\/\//.test(address)) {
    throw new OptionError(
      'to share, set the variable TOKENWEIR_SHARE to the address of a PostgreSQL: postgres://user:password@host/database',
    )
  }
  if (isReadable(address)) return address
  throw new OptionError(
    'TOKENWEIR_SHARE cannot be read as postgres://user:password@host/database: percent-encode the characters : / ? # @ % of user and password (@ is %40)',
  )
}

/** True if the address can be parsed. A password that is not percent-encoded may end the host or the path too early. */
function isReadable(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { hash, pathname, search, hostname } = new URL(address)
  const isSocket = search.includes('host=')
  return hash === '' && !/[@]/.test(pathname + search) && (hostname !== '' || isSocket)
}

export const notSharedText = 'TOKENWEIR_SHARE is set, and --share is not: nothing is shared'

/** True if TOKENWEIR_SHARE is set, but `--share` is not. */
export function isUnused({ share }: Pick<GatewayValues, 'share'>, env: Environment): boolean {
  return !share && (env['TOKENWEIR_SHARE'] ?? '') !== ''
}

/** Starts to send rows to the shared database and, with `pulls`, to fetch rows of others; null without `--share`. */
export function shareRows(
  { share, shareDays, db }: Pick<GatewayValues, 'share' | 'shareDays' | 'db'>,
  env: Environment,
  { pulls }: { readonly pulls: boolean },
  say: (line: string) => void,
): ShareProcess | null {
  if (!share) {
    if (isUnused({ share }, env)) say(notSharedText)
    return null
  }
  const address = shareAddress(env)
  const environment = { ...childEnvironment(env), TOKENWEIR_SHARE: address }
  return new ShareProcess(
    { path: resolve(databasePlace(db).path), pulls, days: shareDays },
    environment,
    systemClock,
    say,
  )
}
