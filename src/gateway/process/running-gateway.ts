import { mkdirSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { dirname, resolve } from 'node:path'
import type { LiveCalls } from '../../api/live-calls.ts'
import type { GatewayEventKind, Warning } from '../../call/call-sink.ts'
import type {
  ControlStatus,
  ControlledGateway,
  DrainAnswer,
  DrainReport,
  HandOverAnswer,
  HandOverOrder,
  LiveOptions,
} from '../../control/control-messages.ts'
import { type ControlServer, openControl } from '../../control/control-server.ts'
import { messageOf, systemText } from '../../lib/errors.ts'
import { reportFault } from '../../lib/fault.ts'
import { ownIdentity } from '../../lib/process/process-identity.ts'
import { readText } from '../../lib/files/read-file.ts'
import { replaceFile } from '../../lib/files/replace-file.ts'
import { type Poll, startPoll } from '../../lib/poll.ts'
import type { GatewayValues } from '../../options/gateway-options.ts'
import { fileOfUpstreams } from '../../options/upstreams-path.ts'
import { Retention } from '../../store/jobs/retention.ts'
import { settingsOf, valuesIn } from '../../options/gateway-settings.ts'
import type { Predecessor } from '../handover/predecessor.ts'
import { type GatewayParts, type GatewaySetup, makeGatewayParts } from './gateway-parts.ts'

/** Time for the last bytes of an ended call to reach the client. */
const lastAnswerMs = 1000
/** Interval of checking the control socket, which may be removed with its folder. */
const controlCheckMs = 1000
/** A background gateway whose folder was deleted ends after this time without a call. */
const longestUnreachableMs = 10 * 60_000
/** Time for old gateways to end after this one has drained. */
const predecessorsEndMs = 3000

/** A running gateway: its control, its restart, and the order in which it stops. */
export class RunningGateway implements ControlledGateway {
  readonly #end = Promise.withResolvers<void>()
  /** Resolves when the gateway has stopped. */
  readonly ended: Promise<void> = this.#end.promise
  readonly #setup: GatewaySetup
  readonly #parts: GatewayParts
  readonly #startedAt: string
  #values: GatewayValues
  #predecessorInstance: string | null
  /** The predecessor, which passes connections on to this gateway. */
  #predecessor: Predecessor | null = null
  #control: ControlServer | null = null
  #controlChecks: Poll | null = null
  /** True once the gateway is stopping. Set only here. */
  isStopping = false
  /** True if the gateway ends because of an internal error. */
  #hasFailed = false
  #hasPidFile = false
  readonly #retention: Retention
  /** The last reported problems of the process record and the control socket. */
  #recordProblem: string | null = null
  #controlProblem: string | null = null
  /** Ended calls at the last check, and when the gateway was last used or reachable (monotonic ms). */
  #callsSeen = 0
  #usedAtMs: number

  constructor(setup: GatewaySetup) {
    const { options, clock, handover } = setup
    this.#setup = setup
    this.#values = options
    this.#startedAt = new Date(clock.wallTime()).toISOString()
    this.#predecessorInstance = handover?.instance ?? null
    this.#usedAtMs = clock.now()
    this.#parts = makeGatewayParts(setup, (withinMs) => this.stop(withinMs))
    const { maxConcurrent } = this.#parts.admission.snapshot()
    this.#note('start', JSON.stringify({ max_concurrent: maxConcurrent }))
    this.#retention = this.#makeRetention()
    this.#applyRetention()
  }

  get hasGatewayKey(): boolean {
    return this.#parts.upstreams.default.endpoint.keyHeader.length > 0
  }

  /** The warnings of `/health`. */
  get warnings(): readonly Warning[] {
    return this.#parts.health.report(this.isStopping).warnings
  }

  /** Resolves when the database has been read, or cannot be. */
  async records(): Promise<void> {
    await this.#parts.sink.usageByMinute(Math.floor(this.#setup.clock.wallTime() / 60_000))
  }

  /** Lets a dashboard find and control this gateway. Resolves with the problem, or `null`; calls are served either way. */
  async openControl(): Promise<string | null> {
    const { controlFolder: folder } = this.#parts
    try {
      this.#control = await openControl({ folder, gateway: this, predecessor: this.#predecessorInstance })
      this.#record(this.#control)
      this.#writePidFile()
      return null
    } catch (error) {
      const words = systemText(error)
      return words === null ? messageOf(error) : `${folder}: ${words}`
    }
  }

  /** Checks the control socket and the process record every second, and makes them again if they were removed. */
  keepControl(): void {
    const { clock } = this.#setup
    const checkControl = async (): Promise<void> => {
      if (this.#control === null || this.isStopping || this.#parts.restart.isHandingOver) return
      if (this.#control.holdsName) this.#record(this.#control)
      else if (!this.#control.hasName) await this.#openControlAnew(this.#control)
      this.#stopIfUnreachable()
    }
    this.#controlChecks = startPoll({
      clock,
      everyMs: controlCheckMs,
      read: checkControl,
      onFault: reportFault,
    })
  }

  /**
   * Stops a background gateway whose working directory was deleted: it cannot record, and no dashboard can
   * reach it, because a folder of the same name has another inode. While clients call the gateway, it runs
   * on.
   */
  #stopIfUnreachable(): void {
    const { clock, log, startedBy } = this.#setup
    if (!startedBy.supervised) return
    const { calls, sink } = this.#parts
    const { written, pending, dropped } = sink.figures()
    const callCount = written + pending + dropped
    const isUsed = calls.running.size > 0 || callCount !== this.#callsSeen || this.#control?.hasName === true
    this.#callsSeen = callCount
    if (isUsed || !isDirectoryDeleted()) this.#usedAtMs = clock.now()
    if (clock.now() - this.#usedAtMs < longestUnreachableMs) return
    log.complain('stopped: its folder was deleted, and no call came for ten minutes')
    this.stop()
  }

  status(): ControlStatus {
    const values = this.#values
    const { instance, health, restart, admission, tokens } = this.#parts
    return {
      identity: ownIdentity(),
      instance,
      version: this.#setup.version,
      host: values.host,
      port: this.#setup.listener.port,
      started_at: this.#startedAt,
      draining: this.isStopping,
      drain_timeout_ms: values.drainTimeoutMs,
      // Absolute paths, because a dashboard may run in another folder.
      options: settingsOf({
        ...values,
        maxConcurrent: admission.snapshot().maxConcurrent,
        tokenLimit: tokens.acrossGateways.snapshot(this.#setup.clock.wallTime()).dailyLimit,
        budgetAction: tokens.rejects ? 'reject' : 'report',
        db: resolve(values.db),
        upstreamFile: fileOfUpstreams(values.upstreamFile),
        pidFile: resolve(values.pidFile),
        rawLogFile: resolve(values.rawLogFile),
      }),
      health: health.report(this.isStopping),
      predecessors: restart.oldGateways.list(),
      supervised: this.#setup.startedBy.supervised,
      crash: this.#setup.startedBy.crash,
    }
  }

  live(): Promise<LiveCalls> {
    return this.#parts.underWay.live()
  }

  cancel(id: string): Promise<boolean> {
    return this.#parts.underWay.cancel(id)
  }

  stop(withinMs: number = this.#values.drainTimeoutMs): void {
    if (!this.isStopping) this.#stop(Math.min(withinMs, this.#values.drainTimeoutMs)).catch(reportFault)
  }

  /** Stops after an internal error. Another gateway may start while calls here finish. */
  fail(): void {
    this.#hasFailed = true
    this.stop()
  }

  /** Ends a start that did not take over; the predecessor continues. */
  abortStart(): void {
    this.#parts.restart.oldGateways.stopReceiving()
    this.stop()
  }

  async handOver(order: HandOverOrder): Promise<HandOverAnswer> {
    const { restart } = this.#parts
    if (this.isStopping) return { failed: 'The gateway is stopping.', code: 'busy' }
    if (restart.isHandingOver) {
      return { failed: 'The gateway hands over to another already.', code: 'busy' }
    }
    const answer = await restart.handOver(order)
    if ('successor' in answer) this.#finishBeside(answer.successor.pid)
    else await this.#resume()
    return answer
  }

  draining(report: DrainReport): DrainAnswer | null {
    return this.#parts.restart.oldGateways.addReport(report)
  }

  /** Takes the connections that the predecessor passes on. */
  follow(predecessor: Predecessor): void {
    this.#predecessor = predecessor
    predecessor.onConnection((connection) => this.#parts.server.take(connection))
  }

  rawLog(name: string, query: string, req: IncomingMessage, res: ServerResponse): void {
    this.#parts.rawLog.routes.answer(name, query, req, res)
  }

  reloadFiles(): void {
    this.#parts.clients.reloadIfChanged()
    this.#parts.upstreams.reloadIfChanged()
  }

  async setOptions(options: LiveOptions): Promise<void> {
    const { tokens, rawLog, upstreams } = this.#parts
    const { limit } = this.#setup
    const changed = valuesIn({ ...options })
    // Shared limits come first: if setting them fails, nothing changes here.
    if (changed.maxConcurrent !== undefined) await limit?.setMax(changed.maxConcurrent)
    if (changed.tokenLimit !== undefined) await limit?.setTokenLimit(changed.tokenLimit)
    upstreams.setAdmission(changed)
    if (changed.tokenLimit !== undefined) tokens.all.setLimit(changed.tokenLimit)
    if (changed.rawLogCapture !== undefined) rawLog.setCapture(changed.rawLogCapture)
    if (changed.rawLog !== undefined) rawLog.set(changed.rawLog)
    this.#values = { ...this.#values, ...changed }
    this.#applyRetention()
    this.#note('config', JSON.stringify(options))
  }

  async #stop(drainTimeoutMs: number): Promise<void> {
    this.isStopping = true
    this.#controlChecks?.stop()
    this.#retention.close()
    const { clock, log } = this.#setup
    const { clients, rawLog, restart, server, calls, minutes, upstreams, sink } = this.#parts
    log.say('stopping after calls in flight; press again to stop now')
    this.#control?.ends(this.#hasFailed ? 'failed' : 'stopped').catch(reportFault)
    rawLog.feed.close()
    const predecessorsEnd = restart.stop(drainTimeoutMs)
    const patience = new AbortController()
    const outOfPatience = clock
      .delay(drainTimeoutMs, patience.signal)
      // Calls still in flight get an error. The gateway does not wait for a client that reads nothing.
      .then(() => Promise.race([calls.abandon(), clock.delay(lastAnswerMs)]))
      .catch(() => undefined)
    await Promise.race([Promise.all([server.refuseNew(), predecessorsEnd]), outOfPatience])
    await Promise.race([predecessorsEnd, clock.delay(predecessorsEndMs)])
    patience.abort()
    this.#note('stop')
    server.close()
    minutes.close()
    clients.close()
    await upstreams.close()
    await Promise.all([sink.close(), rawLog.log.close()])
    this.#parts.endGuard()
    this.#parts.sharedUsage?.close()
    await Promise.all([this.#setup.share?.close(), this.#setup.limit?.close()])
    await restart.close()
    await this.#control?.close()
    this.#removePidFile()
    this.#end.resolve()
  }

  /** Leaves new calls to the successor, and finishes the calls here without a time limit. */
  #finishBeside(pid: number): void {
    const { rawLog, restart, server } = this.#parts
    this.#setup.log.say(
      `process ${pid} has taken over: calls in flight, and those that wait, are finished here`,
    )
    this.#note('restart')
    // The successor deletes old calls itself.
    this.#retention.close()
    rawLog.feed.close()
    const apart = this.#predecessor?.apart() ?? Promise.resolve()
    const left = server.handOff(this.#setup.clock, this.#values.drainTimeoutMs, restart, apart)
    left.catch(reportFault).finally(() => this.stop())
  }

  /** Continues after a failed successor, which may have had the port, the control socket and the PID file. */
  async #resume(): Promise<void> {
    if (this.isStopping) return
    const { log, listener } = this.#setup
    try {
      await this.#parts.server.resume(listener.port, this.#values.host)
    } catch (error) {
      log.complain('the gateway could not listen on its port again:', error)
    }
    if (this.#control === null) return
    if (this.#control.holdsName) {
      this.#writePidFile()
      return
    }
    await this.#openControlAnew(this.#control)
  }

  /** Closes the former control socket and opens a new one. Never rejects. */
  async #openControlAnew(former: ControlServer): Promise<void> {
    const { log } = this.#setup
    this.#control = null
    this.#predecessorInstance = null
    await former.close()
    try {
      mkdirSync(this.#parts.controlFolder, { recursive: true, mode: 0o700 })
    } catch {
      // Without the folder the socket fails, too, and its failure is reported.
    }
    const problem = await this.openControl()
    if (problem === null) return
    if (problem !== this.#controlProblem) log.complain(`no dashboard controls this gateway: ${problem}`)
    this.#controlProblem = problem
    this.#control ??= former
  }

  #record(control: ControlServer): void {
    const problem = control.record()
    if (problem !== null && problem !== this.#recordProblem) {
      this.#setup.log.complain(
        `no record of this process, by which a dashboard knows how it ends: ${problem}`,
      )
    }
    this.#recordProblem = problem
  }

  /** Applies the options for the deletion of old calls. */
  #applyRetention(): void {
    const { keepDays, keepMb } = this.#values
    if (!this.isStopping) this.#retention.set({ keepDays, keepMb })
  }

  #makeRetention(): Retention {
    const { clock, log } = this.#setup
    return new Retention({
      path: this.#values.db,
      clock,
      isQuiet: () => this.#parts.admission.snapshot().active === 0,
      onFolded: ({ folded_calls, before_bytes, after_bytes }) => {
        const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`
        const sizes = `${megabytes(before_bytes)} → ${megabytes(after_bytes)}`
        log.say(`${folded_calls} old calls were rolled up; database: ${sizes}`)
        this.#note('compress', JSON.stringify({ folded_calls, before_bytes, after_bytes }))
      },
      onProblem: (problem) => log.complain(problem),
    })
  }

  /**
   * Writes a hint for people: the process that is controlled from this folder. No signal is ever sent because of this file.
   */
  #writePidFile(): void {
    const { pidFile } = this.#values
    try {
      mkdirSync(dirname(pidFile), { recursive: true, mode: 0o700 })
      replaceFile(pidFile, `${process.pid}\n`)
      this.#hasPidFile = true
    } catch (error) {
      this.#setup.log.complain(`no PID file: ${messageOf(error)}`)
    }
  }

  #removePidFile(): void {
    const { pidFile } = this.#values
    // The file may be another gateway's: a process in another PID namespace can have the same id.
    if (!this.#hasPidFile) return
    try {
      if (readText(pidFile).trim() === String(process.pid)) rmSync(pidFile)
    } catch {
      // The file was removed already.
    }
  }

  #note(kind: GatewayEventKind, detail: string | null = null): void {
    this.#parts.sink.event({ atMs: this.#setup.clock.wallTime(), kind, detail })
  }
}

function isDirectoryDeleted(): boolean {
  return (statSync('.', { throwIfNoEntry: false })?.nlink ?? 0) === 0
}
