import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { type ActiveAlert, AlertMessage, type AlertsReport } from '../api/alerts.ts'
import { orNull } from '../lib/errors.ts'
import { type MessageOf, count, fits } from '../lib/message-schema.ts'
import { readMessage } from '../lib/message-shape.ts'
import { readText } from '../lib/files/read-file.ts'
import { alertOf, alertState } from './alert-states.ts'

/** The state that outlives a dashboard. */
export type AlertRecord = MessageOf<typeof isAlertRecord>

const isAlertRecord = fits(
  v.object({
    /** True if the gateway ran and was not stopped on purpose since. */
    isWanted: v.boolean(),
    states: v.array(alertState),
    /** Oldest first. */
    messages: v.array(AlertMessage),
    dropped: count,
    lookedAt: v.nullable(v.string()),
    /** The webhook of the dashboard that checks the rules; other processes do not know it. */
    receiver: v.nullable(v.object({ host: v.string(), format: v.string(), signed: v.boolean() })),
  }),
)

export const emptyRecord: AlertRecord = {
  isWanted: false,
  states: [],
  messages: [],
  dropped: 0,
  lookedAt: null,
  receiver: null,
}

/** The state of the last check; empty if there is none, or it cannot be read. */
export function readAlertRecord(path: string): AlertRecord {
  return orNull(() => readMessage(readText(path), isAlertRecord)) ?? emptyRecord
}

/** The alerts that have been reported. */
export function activeIn({ states }: AlertRecord): AlertsReport['active'] {
  return states.filter(({ toldMs }) => toldMs !== null).map(alertOf)
}

/** A message of an alert, which waits to be sent if there is a receiver. */
export function newMessage(
  kind: AlertMessage['kind'],
  alert: ActiveAlert,
  state: 'pending' | 'unsent',
  nowMs: number,
): AlertMessage {
  const at = new Date(nowMs).toISOString()
  return { id: `msg_${randomUUID()}`, at, kind, ...alert, state, detail: null }
}

/** The record after its webhook was removed: a later one gets no message that waited, but hears of active alerts. */
export function withoutWaiting(record: AlertRecord): AlertRecord {
  const waiting = record.messages.filter(({ state }) => state === 'pending')
  const isWaiting = (alert: { readonly rule: string; readonly subject: string | null }): boolean =>
    waiting.some(({ rule, subject }) => rule === alert.rule && subject === alert.subject)
  return {
    ...record,
    states: record.states.map((state) => (isWaiting(state) ? { ...state, isSent: false } : state)),
    messages: record.messages.map((old) => (waiting.includes(old) ? { ...old, state: 'unsent' } : old)),
  }
}

/** The message of `alerts test`. `nowMs` is in ms since the Unix epoch. */
export function testMessage(nowMs: number): AlertMessage {
  const words = { rule: 'test', title: 'Test', text: 'Alerts of tokenweir arrive here.' }
  const since = new Date(nowMs).toISOString()
  return newMessage('test', { ...words, subject: null, since }, 'pending', nowMs)
}
