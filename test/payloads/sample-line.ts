import { formatCallId } from '../../src/call/call-id.ts'

/** A record as it stands in the file, with as many bytes of body as are asked for. */
export function sampleLine(
  callId: number,
  direction: 'incoming' | 'outgoing',
  bodyBytes: number = 20,
  seq: number = callId,
): Buffer {
  const timestamp = '2026-11-21T06:00:00.000Z'
  const record = {
    id: formatCallId(callId),
    seq,
    timestamp,
    direction,
    body: { text: 'x'.repeat(bodyBytes) },
  }
  return Buffer.from(`${JSON.stringify(record)}\n`)
}

/** Both records of calls with these ids. */
export function sampleLines(callIds: readonly number[], bodyBytes?: number): Buffer[] {
  return callIds.flatMap((id) => [
    sampleLine(id, 'incoming', bodyBytes),
    sampleLine(id, 'outgoing', bodyBytes, id + 1),
  ])
}
