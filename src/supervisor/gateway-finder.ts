import { ControlClient, type NoAnswer } from '../control/control-client.ts'
import type { ControlStatus } from '../control/control-messages.ts'
import { type ProcessRecord, readProcessRecord, removeProcessRecord } from '../control/process-record.ts'
import { messageOf } from '../lib/errors.ts'
import { type ProcessIdentity, isAlive } from '../lib/process/process-identity.ts'

/** A supervisor's time limits, in milliseconds. */
export type SupervisorLimits = Readonly<typeof defaultLimits>

export const defaultLimits = {
  /** Limit for an answer of the gateway, on its control socket and on its port. */
  answerMs: 2000,
  /** Limit from a gateway's start until it is healthy. */
  startMs: 15_000,
  /** Limit for a gateway to accept a stop. */
  acceptStopMs: 5000,
  /** Limit for a gateway to end after its drain time-out. */
  afterDrainMs: 5000,
}

/** All traces of a data folder's gateway. */
export interface FolderTraces {
  readonly control: ControlStatus | NoAnswer
  /** Why the control socket cannot be used; null if it works, or there is none. */
  readonly problem: string | null
  /** The process record; null without one. */
  readonly record: ProcessRecord | null
  /** True if the record's process certainly runs, so that no other gateway may start. */
  readonly recordedRuns: boolean
}

/** Finds the gateway of a data folder, started by any program. */
export class GatewayFinder {
  readonly client: ControlClient
  readonly limits: SupervisorLimits
  readonly #folder: string
  /** The last status; null if no gateway answered, or its end is known. Only this class sets it. */
  lastStatus: ControlStatus | null = null

  constructor(folder: string, limits: SupervisorLimits) {
    this.client = new ControlClient(folder)
    this.#folder = folder
    this.limits = limits
  }

  async find(limitMs: number = this.limits.answerMs): Promise<FolderTraces> {
    let control: FolderTraces['control'] = 'noReply'
    let problem: string | null = null
    try {
      control = await this.client.status(limitMs)
    } catch (error) {
      problem = messageOf(error)
    }
    if (typeof control === 'object') this.lastStatus = control
    // The record is read last: a gateway that has just ended has removed it by now.
    const record = readProcessRecord(this.#folder)
    const recordedRuns = record !== null && record.ends !== 'failed' && runsForCertain(record)
    return { control, problem, record, recordedRuns }
  }

  /** The process of a gateway that does not answer; null if it is not certain. */
  silentProcess(): ProcessIdentity | null {
    const candidates: readonly (ProcessIdentity | null)[] = [
      readProcessRecord(this.#folder),
      this.lastStatus?.identity ?? null,
    ]
    return candidates.find((candidate) => candidate !== null && runsForCertain(candidate)) ?? null
  }

  /** True if a gateway of this id was stopped, even if it was then killed while it finished its calls. */
  wasStopped(pid: number | null): boolean {
    const record = readProcessRecord(this.#folder)
    return record !== null && record.pid === pid && record.ends === 'stopped'
  }

  forgetSeen(): void {
    this.lastStatus = null
  }

  /** Removes the record of a process before its kill. */
  forget(pid: number | null): void {
    const record = readProcessRecord(this.#folder)
    if (record !== null && record.pid === pid) removeProcessRecord(this.#folder, record.instance)
  }

  /** Removes the record of a gateway that this process has stopped, so that its end is no crash. */
  forgetEnded(): void {
    this.forgetSeen()
    const record = readProcessRecord(this.#folder)
    if (record !== null && !isAlive(record)) removeProcessRecord(this.#folder, record.instance)
  }
}

/** True if a later process with the same number can be distinguished. */
export function isCertain({ startTicks, bootId }: ProcessIdentity): boolean {
  return startTicks !== null && bootId !== null
}

function runsForCertain(identity: ProcessIdentity): boolean {
  return isCertain(identity) && isAlive(identity)
}
