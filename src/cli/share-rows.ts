import { resolve } from 'node:path'
import { systemClock } from '../call/clock.ts'
import type { GatewayValues } from '../options/gateway-options.ts'
import { ShareProcess } from '../share/rows/share-process.ts'
import { databasePlace } from '../store/sqlite/older-proxy.ts'
import { childEnvironment } from '../supervisor/child-environment.ts'
import { type Environment, OptionError } from './parse-options.ts'

/** The address of the common database. Throws {@link OptionError} without one. */
export function shareAddress(env: Environment): string {
  const address = env['TOKENWEIR_SHARE'] ?? ''
  if (/^postgres(?:ql)?:\/\//.test(address)) return address
  throw new OptionError(
    'to share, set the variable TOKENWEIR_SHARE to the address of a PostgreSQL: postgres://user:password@host/database',
  )
}

/** Begins to send rows to the common database, and, with `pulls`, to fetch the others'; null without `--share`. */
export function shareRows(
  { share, shareDays, db }: Pick<GatewayValues, 'share' | 'shareDays' | 'db'>,
  env: Environment,
  { pulls }: { readonly pulls: boolean },
  say: (line: string) => void,
): ShareProcess | null {
  if (!share) return null
  const address = shareAddress(env)
  const own = { ...childEnvironment(env), TOKENWEIR_SHARE: address }
  return new ShareProcess(
    { path: resolve(databasePlace(db).path), pulls, days: shareDays },
    own,
    systemClock,
    say,
  )
}
