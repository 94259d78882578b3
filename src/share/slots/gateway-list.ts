import { hostname } from 'node:os'
import type { GatewayRow, GatewaysReport } from '../../api/gateways.ts'
import type { Clock } from '../../call/clock.ts'
import { CodedError } from '../../lib/errors.ts'
import { type PostgresConnection, connectShared, errorInWords } from '../postgres.ts'
import { ownRun } from './machine.ts'
import { reportFault } from '../../lib/fault.ts'

/** Why a gateway is not released. */
export class ReleaseError extends CodedError<
  'gateway_not_found' | 'gateway_not_silent' | 'share_unreachable'
> {}

const statementMs = 2000
/** A gateway without a report for this time is `away`; gateways report once a second. */
const awayMs = 5000
/** An idle connection is closed after this time. */
const idleMs = 60_000

/** The options of the list of gateways. */
export interface GatewayListOptions {
  readonly url: string
  /** The data folder of the dashboard's own gateway. */
  readonly folder: string
  readonly clock: Clock
  readonly copy?: () => GatewaysReport['copy']
}

/**
 * All gateways that share, read from their database over a separate connection, so that only the request
 * waits for the database.
 */
export class GatewayList {
  readonly #options: GatewayListOptions
  readonly #ownFolder: string
  #connection: Promise<PostgresConnection> | null = null
  #stopIdling: () => void = () => {}
  #last: Pick<GatewaysReport, 'gateways' | 'max_concurrent' | 'as_of'> | null = null

  constructor(options: GatewayListOptions) {
    this.#options = options
    this.#ownFolder = ownRun(options.folder).folder
  }

  /** The gateways. Never rejects; while the database is away, the gateways are those of the last answer. */
  async report(): Promise<GatewaysReport> {
    const { url, clock, copy } = this.#options
    let problem: string | null = null
    try {
      const rows = await this.#ask('SELECT * FROM tokenweir.gateway_list()')
      const nowMs = clock.wallTime()
      this.#last = {
        gateways: rows.map((row) => this.#rowOf(row, nowMs)).toSorted(inOrder),
        max_concurrent: typeof rows[0]?.[12] === 'number' ? rows[0][12] : null,
        as_of: new Date(nowMs).toISOString(),
      }
    } catch (error) {
      problem = errorInWords(error, url)
    }
    const emptyList = { gateways: [], max_concurrent: null, as_of: new Date(clock.wallTime()).toISOString() }
    return { ...(this.#last ?? emptyList), problem, copy: copy?.() ?? null }
  }

  /**
   * Sets the number of slots that all gateways share. Rejects with the connection's error; {@link
   * errorInWords} makes a message for people.
   */
  async setMaxConcurrent(slots: number): Promise<void> {
    await this.#ask('SELECT tokenweir.set_max_concurrent($1)', [slots])
  }

  /**
   * Frees the slots of a lost gateway. Rejects with {@link ReleaseError}, for example if the gateway has
   * reported since.
   */
  async release(instance: string): Promise<void> {
    const released = await this.#ask('SELECT tokenweir.release_lost_gateway($1)', [instance]).catch(
      (error: unknown) => {
        throw new ReleaseError('share_unreachable', `${errorInWords(error, this.#options.url)}.`)
      },
    )
    const [[isReleased] = []] = released
    if (isReleased === null) throw new ReleaseError('gateway_not_found', 'No sharing gateway has this name.')
    if (isReleased !== true) {
      const message = 'This gateway is not lost: it has reported within its lease and ten seconds.'
      throw new ReleaseError('gateway_not_silent', message)
    }
  }

  close(): void {
    this.#stopIdling()
    const connection = this.#connection
    this.#connection = null
    void connection?.then(
      (open) => open.close(),
      () => {},
    )
  }

  async #ask(sql: string, values?: readonly unknown[]): Promise<readonly (readonly unknown[])[]> {
    this.#stopIdling()
    const connection = (this.#connection ??= this.#open())
    try {
      return await (await connection).query(sql, values)
    } catch (error) {
      if (this.#connection === connection) this.close()
      throw error
    } finally {
      this.#stopIdling()
      this.#stopIdling = this.#options.clock.after(idleMs, () => this.close(), { background: true })
    }
  }

  async #open(): Promise<PostgresConnection> {
    const { url } = this.#options
    const connection = await connectShared(url, {
      applicationName: 'tokenweir dashboard',
      statementTimeoutMs: statementMs,
    })
    connection.closed.then(() => this.close()).catch(reportFault)
    return connection
  }

  #rowOf(row: readonly unknown[], nowMs: number): GatewayRow {
    const [
      instance,
      folder,
      host,
      version,
      silent,
      isRecovering,
      active,
      held,
      waiting,
      behind,
      lease,
      isLost,
    ] = row
    const silentMs = Number(silent)
    const isAway = silentMs > awayMs
    return {
      instance: String(instance),
      host: String(host),
      version: String(version),
      state: isAway ? 'away' : isRecovering === true ? 'learning' : 'ok',
      away_since: isAway ? new Date(nowMs - silentMs).toISOString() : null,
      active: Number(active),
      held: Number(held),
      waiting: Number(waiting),
      rows_behind: Number(behind),
      lease_left_s: lease === null ? null : Math.ceil(Number(lease) / 1000),
      // The host must match too, because a copied folder on another machine has the same id.
      is_own: folder === this.#ownFolder && host === hostname(),
      can_release: isLost === true,
    }
  }
}

function inOrder(a: GatewayRow, b: GatewayRow): number {
  return (
    Number(b.is_own) - Number(a.is_own) ||
    a.host.localeCompare(b.host) ||
    a.instance.localeCompare(b.instance)
  )
}
