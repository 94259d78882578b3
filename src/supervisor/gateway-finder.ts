import { ControlClient, type NoAnswer } from '../control/control-client.ts'
import type { ControlStatus } from '../control/control-messages.ts'
import { type ProcessRecord, readProcessRecord, removeProcessRecord } from '../control/process-record.ts'
import { messageOf } from '../lib/errors.ts'
import { type ProcessIdentity, isAlive } from '../lib/process/process-identity.ts'

/** A supervisor's time limits, in milliseconds. */
export type SupervisorLimits = Readonly<typeof defaultLimits>

export const defaultLimits = {
  /** For an answer of the gateway, on its control socket and on its port. */
  answerMs: 2000,
  /** For a gateway to become healthy, from its start. */
  startMs: 15_000,
  /** For a gateway to accept that it is to stop. */
  acceptStopMs: 5000,
  /** For its end, beyond its own drain time-out. */
  afterDrainMs: 5000,
}

/** All traces of a data folder's gateway. */
export interface FolderTraces {
  readonly control: ControlStatus | NoAnswer
  /** Why the control socket cannot be used, if neither a gateway nor nobody is behind it. */
  readonly problem: string | null
  /** Written by the gateway when it opened its socket. */
  readonly record: ProcessRecord | null
  /** The record's process runs, for certain, and no other may take its place. */
  readonly recordedRuns: boolean
}

/** Finds the gateway of a data folder, whoever started it. */
export class GatewayFinder {
  readonly client: ControlClient
  readonly limits: SupervisorLimits
  readonly #folder: string
  /** The gateway that answered last; null if none did, or its end is known. Set here alone. */
  seen: ControlStatus | null = null

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
    if (typeof control === 'object') this.seen = control
    // Read last, so that a gateway that has just ended has taken it away already.
    const record = readProcessRecord(this.#folder)
    const recordedRuns = record !== null && record.ends !== 'failed' && runsForCertain(record)
    return { control, problem, record, recordedRuns }
  }

  /** The process behind a control socket that does not answer, if it is known for certain. */
  silentProcess(): ProcessIdentity | null {
    const known: readonly (ProcessIdentity | null)[] = [
      readProcessRecord(this.#folder),
      this.seen?.identity ?? null,
    ]
    return known.find((one) => one !== null && runsForCertain(one)) ?? null
  }

  forgetSeen(): void {
    this.seen = null
  }

  /** Takes away the record of a process that we are about to end. */
  forget(pid: number | null): void {
    const record = readProcessRecord(this.#folder)
    if (record !== null && record.pid === pid) removeProcessRecord(this.#folder, record.instance)
  }

  /** Takes away what a gateway has left that we have ended ourselves, so that its end surprises nobody. */
  forgetEnded(): void {
    this.forgetSeen()
    const record = readProcessRecord(this.#folder)
    if (record !== null && !isAlive(record)) removeProcessRecord(this.#folder, record.instance)
  }
}

/** True if a later process with the same number would be told apart. */
export function isCertain({ startTicks, bootId }: ProcessIdentity): boolean {
  return startTicks !== null && bootId !== null
}

function runsForCertain(identity: ProcessIdentity): boolean {
  return isCertain(identity) && isAlive(identity)
}
