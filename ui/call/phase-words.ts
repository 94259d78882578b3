import type { PhaseName } from './call-phases.ts'

/** What a part of a call is called, as browsers' network panels do. */
export const phaseWords: Readonly<Record<PhaseName, string>> = {
  receive: 'Received the request',
  queue: 'Waited for a slot',
  retry: 'Waited to retry',
  connect: 'Upstream connect',
  first_token: 'To first token',
  first_byte: 'To first byte',
  stream: 'Streaming',
  body: 'Rest of the answer',
  answer: 'Waiting for the answer',
  refusal: 'Gateway’s answer',
}
