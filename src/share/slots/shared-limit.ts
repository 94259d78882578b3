import { backoffMs } from '../../lib/backoff.ts'
import type { HealthReport } from '../../api/health-report.ts'
import type { Warning } from '../../call/call-sink.ts'
import type { Clock } from '../../call/clock.ts'
import type { BudgetAnswer, BudgetLink, BudgetMessage } from '../../gateway/admission/shared-usage.ts'
import type { LimitedGateway, SlotLink } from '../../gateway/admission/slot-holder.ts'
import type { SlotAnswer, SlotSync } from '../../gateway/admission/slot-holder-protocol.ts'
import { type PostgresConnection, connectShared, errorInWords, shownAddress } from '../postgres.ts'
import { type AskedSettings, LimitError, refusal, type SharedSettings } from './shared-settings.ts'
import { askForBudget } from './shared-tokens.ts'
import { type ListedGateway, type RunIdentity, isSeenDead, lockRun, ownRunIn } from './machine.ts'
import { reportFault } from '../../lib/fault.ts'
import { counted } from '../../lib/number-format.ts'

/** The options of a gateway that shares its limit. */
export interface SharedLimitOptions {
  readonly url: string
  /** The name of this gateway's run. */
  readonly instance: string
  /** The folder of its database. */
  readonly folder: string
  readonly version: string
  /** The settings in force if no gateway shares yet. */
  readonly settings: SharedSettings
  /** The settings that this start asks for; null means the others' value. */
  readonly ownSettings: AskedSettings
  readonly leaseMs: number
  readonly clock: Clock
  readonly say: (line: string) => void
}

const statementMs = 2000
const checkEveryMs = 1000
const probeMs = 1000
/** After this time without an answer, the database counts as away. */
const awayMs = 3000
const retry = { firstMs: 100, longestMs: 2000 } as const

/**
 * The gateway's side of the limit that gateways share through PostgreSQL: its entry in their list, its
 * messages to the pool of slots, and the search for dead gateways. A call waits only for its slot.
 */
export class SharedLimit implements SlotLink, BudgetLink {
  readonly #options: SharedLimitOptions
  readonly #run: RunIdentity
  #gateway: LimitedGateway | null = null
  #number = 0
  /** The settings in the database. Only this class sets them. */
  settings: SharedSettings
  #lock: Disposable | null = null
  /** The connection for messages. */
  #main: PostgresConnection | null = null
  /** The connection for notifications and slow statements. */
  #side: PostgresConnection | null = null
  #heard: (() => void) | null = null
  #figures: readonly number[] = [0, 0, 0, 0]
  #isRecovered = true
  #answeredMs: number
  #lastProblem = ''
  #isClosed = false
  /** Connections for messages that have failed since the last answer: a read-only database accepts connections. */
  #failures = 0
  /** Returns the number of this gateway's rows that are not in the shared database yet, for all pages. */
  behind: () => number = () => 0
  #reportedBehind: number | null = null
  /** The last connection that was asked for the budget. */
  #budgetOf: PostgresConnection | null = null
  /** The id of the schema in which this gateway has joined, because a schema may be dropped and created again. */
  #schema: string | null = null
  /** The other gateways in the list of the last answer. */
  #others: readonly string[] = []

  constructor(options: SharedLimitOptions) {
    this.#options = options
    this.#run = ownRunIn(options.folder)
    this.settings = options.settings
    this.#answeredMs = options.clock.now()
  }

  get instance(): string {
    return this.#options.instance
  }

  get leaseMs(): number {
    return this.#options.leaseMs
  }

  get number(): number {
    return this.#number
  }

  /** Joins the other gateways as soon as the database answers. Rejects with {@link LimitError}. */
  async join(): Promise<void> {
    for (let tries = 0; ; tries++) {
      let main: PostgresConnection | null = null
      try {
        main = await this.#open()
        await this.#enter(main)
        this.#begin(main)
        return
      } catch (error) {
        main?.close()
        if (error instanceof LimitError) throw error
        this.#report(`${errorInWords(error, this.#options.url)}; no call is served until it answers`)
        await this.#pause(tries)
      }
    }
  }

  /** Connects the gateway, which from here on gets changes of the others. */
  attach(gateway: LimitedGateway): void {
    this.#gateway = gateway
    gateway.limit(this.settings.maxConcurrent)
    this.#keepMain().catch(reportFault)
    this.#keepSide().catch(reportFault)
  }

  async sync(message: SlotSync): Promise<SlotAnswer | null> {
    const main = this.#main
    if (main === null) return null
    const { holder, poolId, joinCount, usedAtJoin, returnedTotal, grantedTotal, ages } = message
    const { active, queued } = this.#ownFigures
    const { leaseMs, clock } = this.#options
    try {
      const [row = []] = await main.query(
        'SELECT * FROM tokenweir.slots_sync($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
        [holder, poolId, joinCount, usedAtJoin, returnedTotal, grantedTotal, ages, leaseMs, active, queued],
      )
      const [isKnown, name, total, contended, elsewhere, max, ...figures] = row
      const others = figures.pop()
      this.#isRecovered = figures.pop() === true
      this.#figures = figures.map(Number)
      this.#answeredMs = clock.now()
      this.#report('')
      if (isKnown === null) await this.#enterAnew(main)
      this.#failures = 0
      this.#limit(Number(max))
      if (isKnown !== true) return { known: false, poolId: String(name) }
      this.#others = Array.isArray(others) ? others.map(String) : []
      // While the database does not know all holders, its number of gateways is too low.
      if (this.#isRecovered) this.#gateway?.shareWith(this.status().gateways)
      const elsewhereMs = elsewhere === null ? null : Number(elsewhere)
      return { known: true, grantedTotal: Number(total), contended: contended === true, elsewhereMs }
    } catch (error) {
      this.#failed(main, error)
      return null
    }
  }

  async syncBudget(message: BudgetMessage): Promise<BudgetAnswer | null> {
    const connection = this.#side ?? this.#main
    if (connection === null) return null
    // A new connection may lead to another copy of the database, so all minutes are requested.
    const request = connection === this.#budgetOf ? message : { ...message, fromSeq: 0 }
    const answer = await askForBudget(connection, this.instance, request).catch(() => null)
    this.#budgetOf = answer === null ? null : connection
    if (answer !== null) this.settings = { ...this.settings, tokenLimit: answer.tokenLimit }
    return answer
  }

  /** Sets another token limit for all. Rejects if the database does not answer. */
  async setTokenLimit(tokenLimit: number): Promise<void> {
    await this.#set('UPDATE tokenweir.settings SET token_limit = $1', [tokenLimit])
  }

  /** All gateways that share, from the last answer. */
  status(): NonNullable<HealthReport['shared']> {
    const [gateways = 0, held = 0, active_all = 0, waiting_all = 0] = this.#figures
    const engine = this.#isAway ? 'away' : this.#isRecovered ? 'ok' : 'learning'
    const { held: held_here } = this.#ownFigures
    const lease_s = this.#options.leaseMs / 1000
    return { gateways, held, held_here, active_all, waiting_all, lease_s, engine }
  }

  warnings(): readonly Warning[] {
    const { url, clock, leaseMs } = this.#options
    const where = shownAddress(url)
    if (this.#isAway) {
      const seconds = Math.round((clock.now() - this.#answeredMs) / 1000)
      const { held } = this.#ownFigures
      const next =
        held === 0
          ? 'this gateway holds no slot, and refuses calls that have waited for 5 s (503 limit_unreachable)'
          : `this gateway keeps ${counted(held, 'slot')} until ${Math.round(leaseMs * 0.0009)} s have passed`
      const problem = this.#lastProblem === '' ? `${where} does not answer` : this.#lastProblem
      const message = `${problem}. No answer for ${seconds} s: ${next}`
      return [{ code: 'limit_away', message }]
    }
    if (this.#isRecovered) return []
    const message = `${where} has lost the list of slots: no gateway gets more until all have reported, or ${leaseMs / 1000} s have passed`
    return [{ code: 'limit_learning', message }]
  }

  /** Sets another limit for all. Rejects if the database does not answer. */
  async setMax(maxConcurrent: number): Promise<void> {
    await this.#set('SELECT tokenweir.set_max_concurrent($1)', [maxConcurrent])
    this.#limit(maxConcurrent)
  }

  async #set(sql: string, values: readonly unknown[]): Promise<void> {
    if (this.#side === null) throw new Error(`${shownAddress(this.#options.url)} cannot be reached`)
    await this.#side.query(sql, values)
  }

  /** Frees the gateway's slots and closes the connections. */
  async close(): Promise<void> {
    this.#isClosed = true
    const release = this.#main?.query('SELECT tokenweir.release_gateway($1)', [this.instance])
    await release?.catch(() => {})
    this.#main?.close()
    this.#side?.close()
    this.#lock?.[Symbol.dispose]()
  }

  get #ownFigures(): ReturnType<LimitedGateway['figures']> {
    return this.#gateway?.figures() ?? { active: 0, queued: 0, held: 0 }
  }

  get #isAway(): boolean {
    return this.#options.clock.now() - this.#answeredMs > awayMs
  }

  #open(): Promise<PostgresConnection> {
    return connectShared(this.#options.url, {
      applicationName: `tokenweir ${this.instance}`,
      statementTimeoutMs: statementMs,
    })
  }

  /** Joins the list: takes a number, and gets the settings. Dead gateways are removed first. */
  async #enter(connection: PostgresConnection): Promise<void> {
    await this.#releaseDead(connection)
    const { folder, version, leaseMs, ownSettings } = this.#options
    const { folder: id, host, pid, startTicks, bootId, pidNamespace, machineId } = this.#run
    const { maxConcurrent, tokenLimit, rejects } = this.settings
    const run = [this.instance, id, host, pid, startTicks, bootId, pidNamespace, machineId, version, leaseMs]
    const ownValues = [ownSettings.maxConcurrent, ownSettings.tokenLimit, ownSettings.rejects]
    const joined = [maxConcurrent, tokenLimit, rejects, this.#schema, this.#others]
    const values = [...run, ...ownValues, ...joined]
    const [[number, max, tokens, areRejected, schema] = []] = await connection.query(
      `SELECT * FROM tokenweir.enter_gateway(${values.map((_, at) => `$${at + 1}`).join(', ')})`,
      values,
    )
    const there = { maxConcurrent: Number(max), tokenLimit: Number(tokens), rejects: areRejected === true }
    if (typeof number !== 'number') throw refusal(there, ownSettings)
    this.#lock?.[Symbol.dispose]()
    this.#number = number
    this.#schema = String(schema)
    this.#lock = lockRun(folder, number)
    this.settings = there
  }

  /** Joins again after a silence so long that another gateway may have this one's number. */
  async #enterAnew(connection: PostgresConnection): Promise<void> {
    await this.#enter(connection)
    this.#gateway?.number(this.#number)
  }

  /** Removes gateways that are known to be dead on this machine. */
  async #releaseDead(connection: PostgresConnection): Promise<void> {
    const rows = await connection.query('SELECT * FROM tokenweir.look_at_gateways($1)', [this.instance])
    for (const peer of rows.map(listed)) {
      if (!isSeenDead(peer, this.#run, this.#options.folder)) continue
      await connection.query('SELECT tokenweir.release_gateway($1)', [peer.instance])
      this.#options.say(`sharing: gateway ${peer.instance} on ${peer.host} has ended; its slots are free`)
    }
  }

  async #reportBehind(connection: PostgresConnection): Promise<void> {
    const behind = this.behind()
    if (behind === this.#reportedBehind) return
    const update = 'UPDATE tokenweir.gateways SET behind = $2 WHERE instance = $1'
    await connection.query(update, [this.instance, behind])
    this.#reportedBehind = behind
  }

  #begin(main: PostgresConnection): void {
    this.#main = main
    const onClosed = (): void => {
      if (this.#main === main) this.#main = null
    }
    main.closed.then(onClosed).catch(reportFault)
  }

  async #keepMain(): Promise<void> {
    while (!this.#isClosed) {
      if (this.#main !== null) {
        await this.#main.closed
        continue
      }
      if (this.#failures > 0) await this.#pause(this.#failures - 1)
      this.#failures++
      try {
        const main = await this.#open()
        if (this.#isClosed) main.close()
        else this.#begin(main)
        this.#gateway?.wake()
      } catch (error) {
        this.#report(errorInWords(error, this.#options.url))
      }
    }
  }

  async #keepSide(): Promise<void> {
    let hasNews = true
    for (let tries = 0; !this.#isClosed;) {
      try {
        const side = await this.#open()
        this.#side = side
        side.notified(() => {
          this.#heard?.()
          this.#gateway?.wake()
        })
        await side.query(`LISTEN "tokenweir_${this.instance}"`)
        const hears = await this.#probe()
        if (!hears && hasNews) this.#options.say(noNews)
        hasNews = hears
        const closed = new AbortController()
        side.closed.then(() => closed.abort()).catch(reportFault)
        while (!this.#isClosed && !closed.signal.aborted) {
          await this.#releaseDead(side)
          await this.#reportBehind(side)
          tries = 0
          await this.#options.clock.delay(checkEveryMs, closed.signal).catch(() => {})
        }
        if (closed.signal.aborted) this.#side = null
      } catch {
        this.#side?.close()
        this.#side = null
        await this.#pause(tries++)
      }
    }
    this.#side?.close()
  }

  /** True if notifications arrive: one is sent on one connection, and must come on the other. True while that is unknown. */
  async #probe(): Promise<boolean> {
    const main = this.#main
    if (main === null) return true
    const { promise: heard, resolve } = Promise.withResolvers<void>()
    this.#heard = resolve
    const { clock } = this.#options
    await main.query('SELECT pg_notify($1, $2)', [`tokenweir_${this.instance}`, 'probe'])
    const hears = await Promise.race([heard.then(() => true), clock.delay(probeMs).then(() => false)])
    this.#heard = null
    return hears || this.#main !== main
  }

  #limit(maxConcurrent: number): void {
    if (maxConcurrent === this.settings.maxConcurrent || !(maxConcurrent > 0)) return
    this.settings = { ...this.settings, maxConcurrent }
    this.#options.say(`sharing: the gateways share ${maxConcurrent} slots from now on`)
    this.#gateway?.limit(maxConcurrent)
  }

  #failed(connection: PostgresConnection, error: unknown): void {
    // After a statement that the server has cancelled, the connection is still good.
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code !== '57014' && code !== '55P03') {
      connection.close()
      if (this.#main === connection) this.#main = null
    }
    if (!this.#isClosed) this.#report(errorInWords(error, this.#options.url))
  }

  /** Reports a fault once. An empty text means that all is well again. */
  #report(words: string): void {
    if (words === this.#lastProblem) return
    if (words !== '') this.#options.say(`sharing: ${words}`)
    else this.#options.say('sharing: the shared database answers again')
    this.#lastProblem = words
  }

  async #pause(tries: number): Promise<void> {
    await this.#options.clock.delay(backoffMs(retry, tries + 1))
  }
}

const noNews =
  'sharing: notifications do not arrive through this address (a transaction pooler?): slots are requested ten times a second instead'

function listed(row: readonly unknown[]): ListedGateway {
  const [instance, number, folder, host, pid, startTicks, bootId, pidNamespace, machineId, silentMs] = row
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return {
    instance: String(instance),
    number: Number(number),
    folder: String(folder),
    host: String(host),
    pid: Number(pid),
    startTicks: startTicks === null ? null : Number(startTicks),
    bootId: text(bootId),
    pidNamespace: text(pidNamespace),
    machineId: text(machineId),
    silentMs: Number(silentMs),
  }
}
