import { readFileSync } from 'node:fs'
import { type AlertMessage, type AlertsReport, messageStates } from '../api/alerts.ts'
import {
  isCount,
  isFlag,
  isOneOf,
  isText,
  listOf,
  nullable,
  readMessage,
  record,
} from '../lib/message-shape.ts'
import { alertFormats } from '../options/dashboard-options.ts'
import { ruleList } from './alert-rules.ts'
import { type AlertState, isAlertState, isMessageKind } from './alert-states.ts'

const isAlertMessage = record<AlertMessage>({
  id: isText,
  at: isText,
  kind: isMessageKind,
  rule: isText,
  subject: nullable(isText),
  title: isText,
  text: isText,
  since: isText,
  state: isOneOf(messageStates),
  detail: nullable(isText),
})

/** What outlives a dashboard. */
export interface AlertRecord {
  /** The gateway ran, and nobody has stopped it in order since. */
  readonly isWanted: boolean
  readonly states: readonly AlertState[]
  /** Oldest first. */
  readonly messages: readonly AlertMessage[]
  readonly dropped: number
  readonly lookedAt: string | null
  /** Of the dashboard that looks; other processes do not know its webhook. */
  readonly receiver: AlertsReport['receiver']
}

const isAlertRecord = record<AlertRecord>({
  isWanted: isFlag,
  states: listOf(isAlertState),
  messages: listOf(isAlertMessage),
  dropped: isCount,
  lookedAt: nullable(isText),
  receiver: nullable(record({ host: isText, format: isOneOf(alertFormats), signed: isFlag })),
})

export const emptyRecord: AlertRecord = {
  isWanted: false,
  states: [],
  messages: [],
  dropped: 0,
  lookedAt: null,
  receiver: null,
}

/** What the last look left; empty if there is none, or it cannot be read. */
export function readAlertRecord(path: string): AlertRecord {
  try {
    return readMessage(readFileSync(path, 'utf8'), isAlertRecord) ?? emptyRecord
  } catch {
    return emptyRecord
  }
}

/** Those that have been told. */
export function activeIn({ states }: AlertRecord): AlertsReport['active'] {
  return states
    .filter(({ toldMs }) => toldMs !== null)
    .map(({ rule, subject, text, sinceMs }) => {
      const title = ruleList.find(([code]) => code === rule)?.[1].title ?? rule
      return { rule, title, subject, text, since: new Date(sinceMs).toISOString() }
    })
}
