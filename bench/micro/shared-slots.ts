/**
 * How many messages of gateways that share slots one PostgreSQL answers: `node bench/micro/shared-slots.ts`. For each number of
 * gateways, and of those whose calls wait, the messages a second over eight connections; what bounds them is one lock.
 */
import { connect } from '../../src/share/postgres.ts'
import { makeSharedSchema } from '../../src/share/schema/shared-schema.ts'
import { startPostgres } from '../../test/support/postgres.ts'

const seconds = 3
const connections = 8

await using postgres = await startPostgres()

async function messagesASecond(gateways: number, waiting: number): Promise<number> {
  const url = await postgres.database(`slots_${gateways}_${waiting}`)
  const options = { applicationName: 'bench', statementTimeoutMs: 5000 }
  const open = await Promise.all(Array.from({ length: connections }, () => connect(url, options)))
  const first = open[0]!
  await makeSharedSchema(first)
  const names = Array.from({ length: gateways }, (_, index) => `gateway ${index}`)
  let poolId: unknown = null
  for (const name of names) {
    const machine = [
      name,
      name,
      'host',
      1,
      1,
      '',
      '',
      '',
      '',
      600_000,
      null,
      null,
      null,
      4 * gateways,
      1,
      false,
      null,
      [],
    ]
    await first.query(`SELECT tokenweir.enter_gateway(${parameters(machine)})`, machine)
  }
  /** Its first message joins, with no call in flight; the later ones say who waits. */
  const tell = async (connection: typeof first, index: number, ages: readonly number[]): Promise<void> => {
    const message = [names[index], poolId, 1, 0, 0, 0, ages, 600_000, 4, ages.length]
    const sql = `SELECT pool_id FROM tokenweir.slots_sync(${parameters(message)})`
    poolId = (await connection.query(sql, message))[0]?.[0]
  }
  // The first message brings the name of the state.
  await tell(first, 0, [])
  for (let index = 0; index < gateways; index++) await tell(first, index, [])
  const sixteen = Array.from({ length: 16 }, (_, nth) => 1000 - nth)
  const untilMs = performance.now() + seconds * 1000
  let messages = 0
  await Promise.all(
    open.map(async (connection, at) => {
      for (let index = at; performance.now() < untilMs; index = (index + connections) % gateways) {
        await tell(connection, index, index < waiting ? sixteen : [])
        messages++
      }
    }),
  )
  for (const connection of open) connection.close()
  return messages / seconds
}

function parameters(values: readonly unknown[]): string {
  return values.map((_, index) => `$${index + 1}`).join(', ')
}

for (const [gateways, waiting] of [
  [8, 0],
  [8, 8],
  [64, 0],
  [64, 64],
] as const) {
  const rate = await messagesASecond(gateways, waiting)
  console.log(`${gateways} gateways, calls wait at ${waiting}: ${Math.round(rate)} messages a second`)
}
