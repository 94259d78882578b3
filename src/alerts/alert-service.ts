import { join } from 'node:path'
import type { AlertSetting, AlertsReport, AlertTest } from '../api/alerts.ts'
import type { Clock } from '../call/clock.ts'
import { messageOf } from '../lib/errors.ts'
import { tryFileLock } from '../lib/files/file-lock.ts'
import { replaceFile } from '../lib/files/replace-file.ts'
import type { AlertSums } from '../query/alerts-answer.ts'
import type { QueryProcess } from '../query/query-process.ts'
import { type Poll, startPoll } from '../lib/poll.ts'
import type { SupervisedGateway } from '../supervisor/supervised-gateway.ts'
import {
  type AlertRecord,
  activeIn,
  newMessage,
  readAlertRecord,
  testMessage,
  withoutWaiting,
} from './alert-file.ts'
import type { AlertReceiver } from './alert-request.ts'
import { conditionText, ruleList } from './alert-rules.ts'
import { type AlertChange, AlertSettingsFile, type AlertWebhook } from './alert-settings.ts'
import { alertOf, nextStates } from './alert-states.ts'
import { sendAlert, tryAlert } from './send-alert.ts'
import { reportFault } from '../lib/fault.ts'
import { SettingError } from '../options/gateway-settings.ts'

/** Most messages in the record, waiting ones included; the oldest are dropped. */
const mostMessages = 100
/** Most messages that the alerts' status shows. */
const shownMessages = 20
/** Only sessions with a call within this time are checked. A session is forgotten after a day without a call. */
const sessionMs = 300_000
const forgottenMs = 86_400_000

export interface AlertServiceOptions {
  /** The data folder. */
  readonly folder: string
  readonly clock: Clock
  readonly everyMs: number
  readonly gateway: Pick<SupervisedGateway, 'status'>
  readonly queries: Pick<QueryProcess, 'ask'>
  /** The receiver for the saved webhook. With null, rules are checked and nothing is sent. */
  readonly receiverOf: (saved: AlertWebhook | undefined) => AlertReceiver | null
  /** Prints a line for a person: a broken file, or a message that was not delivered. */
  readonly warn: (line: string) => void
}

/** The files of alerts in a data folder. */
export function alertFilesOf(folder: string): { readonly settings: string; readonly record: string } {
  return { settings: join(folder, 'alerts.json'), record: join(folder, 'alerts-state.json') }
}

/**
 * Checks the alert rules regularly, and sends their messages. If several dashboards use a folder, only one does
 * this, and the others show its results. A check waits for the answers that it needs; nothing waits for a check or
 * a receiver.
 */
export class AlertService {
  readonly #options: AlertServiceOptions
  readonly #settings: AlertSettingsFile
  readonly #recordPath: string
  readonly #closing = new AbortController()
  readonly #sessions = new Map<string, { readonly usd: number; readonly atMs: number }>()
  #record: AlertRecord
  #lock: Disposable | null = null
  #afterSeq: number | null = null
  #poll: Poll | null = null
  #isSending = false
  /** Ends the tries of the message that is being sent. */
  #sending = new AbortController()
  #test: Promise<AlertTest> | null = null
  #warned = ''

  constructor(options: AlertServiceOptions) {
    const { settings, record } = alertFilesOf(options.folder)
    this.#options = options
    this.#settings = new AlertSettingsFile(settings)
    this.#recordPath = record
    this.#record = readAlertRecord(record)
    this.#reloadSettings()
  }

  /** Checks the rules now, and then every `alertEveryS` seconds. */
  start(): void {
    const { clock, everyMs } = this.#options
    const onFault = (error: unknown): void => this.#warnOnce(`alert rules: ${messageOf(error)}`)
    this.#poll ??= startPoll({ clock, everyMs, read: () => this.checkRules(), onFault })
  }

  /** Checks all rules once. Rejects if the lock cannot be taken. */
  async checkRules(): Promise<void> {
    const { gateway, clock, folder } = this.#options
    this.#reloadSettings()
    if (this.#lock === null) {
      this.#lock = tryFileLock(join(folder, 'alerts.lock'))
      this.#record = readAlertRecord(this.#recordPath)
      if (this.#lock === null) return
    }
    const status = await gateway.status().catch(() => null)
    const figures = await this.#ask().catch((error: unknown) => {
      this.#warnOnce(`alert rules: ${messageOf(error)}`)
      return null
    })
    if (this.#closing.signal.aborted) return
    const receiver = this.#receiver
    if (receiver === null) this.#leaveReceiver()
    const nowMs = clock.wallTime()
    const isUp = status?.state === 'running' || status?.state === 'starting'
    const isStopped = status?.state === 'draining' || (status?.state === 'stopped' && status.message === null)
    const isWanted = isUp || (this.#record.isWanted && !isStopped)
    const { states, dueMessages } = nextStates(this.#record.states, {
      nowMs,
      input: { status, isWanted, figures, sessions: this.#sessionsAt(nowMs) },
      settingOf: (code) => this.#settings.of(code),
      canSend: receiver !== null,
    })
    const firstState = receiver === null ? 'unsent' : 'pending'
    const messages = dueMessages.map(({ kind, state }) => newMessage(kind, alertOf(state), firstState, nowMs))
    this.#keep({
      isWanted,
      states,
      messages: [...this.#record.messages, ...messages],
      lookedAt: new Date(nowMs).toISOString(),
      receiver: shownReceiver(receiver),
    })
    this.#sendPending().catch(reportFault)
  }

  report(): AlertsReport {
    this.#reloadSettings()
    const { messages, dropped } = this.#record
    return {
      ...lastCheck(this.#settings, this.#record),
      messages: messages.slice(-shownMessages).reverse(),
      receiver: shownReceiver(this.#receiver),
      pending: messages.filter(({ state }) => state === 'pending').length,
      dropped,
    }
  }

  /** The active alerts, for the bar. */
  active(): AlertsReport['active'] {
    return activeIn(this.#record)
  }

  /** The settings of the rules by their codes. */
  ruleSettings(): Readonly<Record<string, AlertSetting>> {
    this.#reloadSettings()
    return Object.fromEntries(ruleList.map(([code]) => [code, this.#settings.of(code)]))
  }

  /** Saves settings and checks the rules again. Rejects with `JsonFileError`, and with `SettingError` for a webhook that is fixed. */
  async change(change: AlertChange): Promise<AlertsReport> {
    const fixedBy = this.#receiver?.fixedBy ?? null
    if (change.webhook !== undefined && fixedBy !== null) {
      throw new SettingError('fixed_setting', `The webhook is set by ${fixedBy}.`, { param: 'webhook' })
    }
    await this.#settings.change(change)
    if (change.webhook !== undefined) this.#leaveReceiver()
    this.#poll?.refresh()
    return this.report()
  }

  /** Sends a test message once, and returns the receiver's answer. Requests during a test share its result. */
  test(): Promise<AlertTest> {
    this.#test ??= this.#sendTest().finally(() => {
      this.#test = null
    })
    return this.#test
  }

  /** Stops the checks. The next dashboard sends the messages that wait. */
  close(): void {
    this.#poll?.stop()
    this.#closing.abort()
    this.#sending.abort()
    this.#lock?.[Symbol.dispose]()
    this.#lock = null
  }

  get #receiver(): AlertReceiver | null {
    return this.#options.receiverOf(this.#settings.content.webhook)
  }

  async #ask(): Promise<AlertSums | null> {
    const outcome = await this.#options.queries.ask({ kind: 'alerts', afterSeq: this.#afterSeq })
    if (outcome.kind !== 'answer') return null
    // An unreadable database answers as if it had no call, so its answer is not used.
    const answer = JSON.parse(Buffer.from(outcome.body).toString()) as AlertSums & { store?: string }
    if (answer.store !== undefined) return null
    this.#afterSeq = answer.last_seq
    for (const { session, cost_usd: usd, ended_ms: atMs } of answer.sessions) {
      this.#sessions.set(session, { usd: usd + (this.#sessions.get(session)?.usd ?? 0), atMs })
    }
    return answer
  }

  /** Sends no more to a webhook that was changed or removed. Without a new one, waiting messages are not sent. */
  #leaveReceiver(): void {
    this.#sending.abort()
    if (!this.#closing.signal.aborted) this.#sending = new AbortController()
    const isWaiting = this.#record.messages.some(({ state }) => state === 'pending')
    if (this.#receiver === null && isWaiting) this.#keep(withoutWaiting(this.#record))
  }

  #sessionsAt(nowMs: number): ReadonlyMap<string, number> {
    const now = new Map<string, number>()
    for (const [session, { usd, atMs }] of this.#sessions) {
      if (nowMs - atMs > forgottenMs) this.#sessions.delete(session)
      else if (Math.abs(nowMs - atMs) <= sessionMs) now.set(session, usd)
    }
    return now
  }

  #reloadSettings(): void {
    if (!this.#settings.reloadIfChanged() || this.#settings.problem === null) return
    this.#options.warn(`${this.#settings.problem} The last valid alert rules stay in force.`)
  }

  #warnOnce(line: string): void {
    if (line !== this.#warned) this.#options.warn(line)
    this.#warned = line
  }

  #keep(change: Partial<AlertRecord>): void {
    const next = { ...this.#record, ...change }
    const droppedMessages = next.messages.slice(0, -mostMessages)
    const dropped = next.dropped + droppedMessages.filter(({ state }) => state === 'pending').length
    this.#record = { ...next, messages: next.messages.slice(-mostMessages), dropped }
    if (this.#lock === null) return
    try {
      replaceFile(this.#recordPath, JSON.stringify(this.#record))
    } catch (error) {
      // Messages are sent anyway, also the one about a full disk.
      this.#warnOnce(`active alerts cannot be saved and will be forgotten at a restart: ${messageOf(error)}`)
    }
  }

  /** Sends the waiting messages one after the other. Never rejects. */
  async #sendPending(): Promise<void> {
    const { clock, warn } = this.#options
    const { signal } = this.#sending
    if (this.#isSending) return
    this.#isSending = true
    try {
      for (;;) {
        const receiver = this.#receiver
        const next = this.#record.messages.find(({ state }) => state === 'pending')
        if (receiver === null || next === undefined || signal.aborted) break
        const { isDelivered, detail } = await sendAlert(receiver, next, clock, signal)
        if (!isDelivered) {
          warn(`an alert (${next.title}) did not reach ${new URL(receiver.url).host}: ${detail}`)
        }
        const updated = { ...next, state: isDelivered ? 'delivered' : 'failed', detail } as const
        this.#keep({ messages: this.#record.messages.map((old) => (old.id === next.id ? updated : old)) })
      }
    } catch {
      // The dashboard ends, and the next one sends the waiting messages; or the webhook was changed.
    } finally {
      this.#isSending = false
    }
  }

  async #sendTest(): Promise<AlertTest> {
    const { clock } = this.#options
    const receiver = this.#receiver
    if (receiver === null) return { delivered: false, detail: noWebhook }
    const message = testMessage(clock.wallTime())
    const { isDelivered, detail } = await tryAlert(receiver, message, clock, this.#closing.signal)
    const state = isDelivered ? 'delivered' : 'failed'
    this.#keep({ messages: [...this.#record.messages, { ...message, state, detail }] })
    return { delivered: isDelivered, detail }
  }
}

function shownReceiver(receiver: AlertReceiver | null): AlertsReport['receiver'] {
  if (receiver === null) return null
  const { url, format, secret, fixedBy: fixed_by } = receiver
  return { host: new URL(url).host, format, signed: secret !== null, fixed_by }
}

export const noWebhook =
  'there is no webhook: set one on the page, or start with --alert-webhook or TOKENWEIR_ALERT_WEBHOOK'

/** All rules with their settings, and the results of the last check. */
export function lastCheck(
  settings: AlertSettingsFile,
  record: AlertRecord,
): Pick<AlertsReport, 'rules' | 'active' | 'file' | 'problem' | 'looked_at'> {
  const rules = ruleList.map(([code, rule]) => {
    const setting = settings.of(code)
    const { title, threshold } = rule
    const asks = conditionText(rule, setting.threshold)
    return Object.assign({ code, title, asks }, threshold, setting)
  })
  const { path: file, problem } = settings
  return { rules, active: activeIn(record), file, problem, looked_at: record.lookedAt }
}
