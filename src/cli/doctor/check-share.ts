import { messageOf } from '../../lib/errors.ts'
import { type GatewayValues, gatewayOptionTable } from '../../options/gateway-options.ts'
import type { PostgresConnection } from '../../share/postgres.ts'
import type { Environment } from '../parse-options.ts'
import { isUnused, notSharedText, shareAddress } from '../share-rows.ts'
import { counted } from '../../lib/number-format.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

const check = 'sharing'
const limits = { applicationName: 'tokenweir doctor', statementTimeoutMs: 2000 }
/** `SHOW server_version_num` of PostgreSQL 15. */
const oldestServer = 150_000

/** Checks whether a gateway with these values can join the others. Changes nothing in the database. */
export async function checkShare(
  values: Pick<GatewayValues, 'share' | 'maxConcurrent'>,
  env: Environment,
): Promise<readonly Finding[]> {
  if (!values.share)
    return isUnused(values, env) ? [warning(check, notSharedText, 'start with --share, or unset it')] : []
  let url: string
  try {
    url = shareAddress(env)
  } catch (error) {
    return [fault(check, messageOf(error), 'set it in the gateway’s environment')]
  }
  const { connect, errorInWords, shownAddress } = await import('../../share/postgres.ts')
  try {
    const connection = await connect(url, limits)
    try {
      return [await findingOf(connection, shownAddress(url), values.maxConcurrent)]
    } finally {
      connection.close()
    }
  } catch (error) {
    return [fault(check, errorInWords(error, url), 'check the address, its server, user and password')]
  }
}

async function findingOf(connection: PostgresConnection, where: string, wantedMax: number): Promise<Finding> {
  const [[version, isMade, user, database, mayMake, mayUse] = []] = await connection.query(
    `SELECT current_setting('server_version_num')::integer, to_regnamespace('tokenweir') IS NOT NULL,
       current_user, current_database(), has_database_privilege(current_database(), 'CREATE'),
       to_regnamespace('tokenweir') IS NULL OR pg_has_role((SELECT nspowner FROM pg_namespace WHERE nspname = 'tokenweir'), 'USAGE')`,
  )
  if (Number(version) < oldestServer)
    return fault(check, `${where} is older than PostgreSQL 15`, 'use a newer server')
  if (isMade !== true && mayMake !== true) {
    const remedy = `as its owner: GRANT CREATE ON DATABASE "${String(database)}" TO "${String(user)}"`
    return fault(check, `${where} does not let this user make the schema tokenweir`, remedy)
  }
  if (mayUse !== true)
    return fault(check, `${where} does not let this user use the schema tokenweir`, 'connect as its owner')
  if (isMade !== true) return ok(check, `${where} answers; the first gateway makes the schema tokenweir`)
  const [[slots, gateways] = []] = await connection.query(
    'SELECT (SELECT max_concurrent FROM tokenweir.settings), (SELECT count(*) FROM tokenweir.gateways WHERE left_at IS NULL)',
  )
  const max = typeof slots === 'number' ? slots : null
  const isAsked = wantedMax !== gatewayOptionTable.maxConcurrent.default && max !== null && wantedMax !== max
  if (isAsked && Number(gateways) > 0) {
    const remedy = `start with ${max}, or without it; \`tokenweir gateways set --max-concurrent ${wantedMax}\` changes it for all`
    return fault(check, `the gateways share ${max} slots, and --max-concurrent says ${wantedMax}`, remedy)
  }
  const ofSlots = max === null ? '' : `, ${max} slots`
  return ok(check, `${where} answers: ${counted(Number(gateways), 'gateway')}${ofSlots}`)
}
