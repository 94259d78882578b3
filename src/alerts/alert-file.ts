import { randomUUID } from 'node:crypto'
import { type ActiveAlert, AlertMessage, type AlertsReport } from '../api/alerts.ts'
import {
  type MessageOf,
  isCount,
  isFlag,
  isText,
  listOf,
  nullable,
  readMessage,
  record,
} from '../lib/message-shape.ts'
import { fits } from '../options/schema.ts'
import { readText } from '../lib/files/read-file.ts'
import { alertOf, isAlertState } from './alert-states.ts'

/** What outlives a dashboard. */
export type AlertRecord = MessageOf<typeof isAlertRecord>

const isAlertRecord = record({
  /** The gateway ran, and nobody has stopped it in order since. */
  isWanted: isFlag,
  states: listOf(isAlertState),
  /** Oldest first. */
  messages: listOf(fits(AlertMessage)),
  dropped: isCount,
  lookedAt: nullable(isText),
  /** Of the dashboard that looks; other processes do not know its webhook. */
  receiver: nullable(record({ host: isText, format: isText, signed: isFlag })),
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
    return readMessage(readText(path), isAlertRecord) ?? emptyRecord
  } catch {
    return emptyRecord
  }
}

/** Those that have been told. */
export function activeIn({ states }: AlertRecord): AlertsReport['active'] {
  return states.filter(({ toldMs }) => toldMs !== null).map(alertOf)
}

export function newMessage(
  kind: AlertMessage['kind'],
  alert: ActiveAlert,
  state: 'pending' | 'unsent',
  nowMs: number,
): AlertMessage {
  const at = new Date(nowMs).toISOString()
  return { id: `msg_${randomUUID()}`, at, kind, ...alert, state, detail: null }
}

export function testMessage(nowMs: number): AlertMessage {
  const words = { rule: 'test', title: 'Test', text: 'Alerts of tokenweir arrive here.' }
  const since = new Date(nowMs).toISOString()
  return newMessage('test', { ...words, subject: null, since }, 'pending', nowMs)
}
