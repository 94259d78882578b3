import type { ActiveAlert, AlertMessage, AlertsReport } from '../../src/api/alerts.ts'

/** The formats of messages, in words. */
export const formats = [
  ['json', 'JSON'],
  ['slack', 'Slack'],
  ['discord', 'Discord'],
  ['ntfy', 'ntfy'],
] as const

/** The destination of messages, in words. */
export function receiverWords({ receiver }: Pick<AlertsReport, 'receiver'>): string {
  if (receiver === null) return 'no webhook configured'
  return `sent to ${receiver.host} as ${receiver.format}${receiver.signed ? ', signed' : ''}`
}

/** A model, client or session behind the name of its rule. */
export function headOf({ title, subject }: Pick<ActiveAlert, 'title' | 'subject'>): string {
  return subject === null ? title : `${title}: ${subject}`
}

const kindWords = { begins: '', goes_on: 'Still · ', ended: 'Ended · ', test: '' } as const

/** The first line of a message. */
export function messageWords({ kind, ...of }: AlertMessage): string {
  return `${kindWords[kind]}${headOf(of)}`
}

/** The result of a delivery. */
export function arrivalWords({ state, detail }: Pick<AlertMessage, 'state' | 'detail'>): string {
  if (state === 'pending') return 'pending'
  if (state === 'unsent') return 'not delivered: no webhook'
  return state === 'delivered' ? 'arrived' : `not delivered: ${detail ?? 'unknown reason'}`
}
