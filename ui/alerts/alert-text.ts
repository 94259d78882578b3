import type { ActiveAlert, AlertMessage, AlertsReport } from '../../src/api/alerts.ts'

/** The message formats: the value of the setting, and its name on the page. */
export const formats = [
  ['json', 'JSON'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
  ['ntfy', 'ntfy'],
] as const

/** Returns the destination of messages as a text: `sent to hooks.example as slack, signed`. */
export function receiverWords({ receiver }: Pick<AlertsReport, 'receiver'>): string {
  if (receiver === null) return 'no webhook configured'
  return `sent to ${receiver.host} as ${receiver.format}${receiver.signed ? ', signed' : ''}`
}

/** Returns the rule's title, with the model, client or session of the alert: `High spend: gpt-5`. */
export function headOf({ title, subject }: Pick<ActiveAlert, 'title' | 'subject'>): string {
  return subject === null ? title : `${title}: ${subject}`
}

const kindWords = { begins: '', goes_on: 'Still · ', ended: 'Ended · ', test: '' } as const

/** Returns the first line of a message. */
export function messageWords({ kind, ...of }: AlertMessage): string {
  return `${kindWords[kind]}${headOf(of)}`
}

/** Returns the result of a message's delivery as a text. */
export function arrivalWords({ state, detail }: Pick<AlertMessage, 'state' | 'detail'>): string {
  if (state === 'pending') return 'pending'
  if (state === 'unsent') return 'not delivered: no webhook'
  return state === 'delivered' ? 'arrived' : `not delivered: ${detail ?? 'unknown reason'}`
}
