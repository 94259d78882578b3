import type { Keeping } from './copy/capture-rule.ts'
import type { RawAnswer, RawRequest } from './record/raw-payload.ts'

/** The settings that the raw log's thread starts with. */
export interface PayloadSettings {
  /** The path of the active file, e.g. `logger/payloads.jsonl`; full segments lie beside it. The folder is made at the first write. */
  readonly filePath: string
  /** A segment of this size is followed by a new one. */
  readonly segmentBytes: number
  /** Most bytes of all segments together; beyond it the oldest segment is deleted. */
  readonly totalBytes: number
  readonly maxBodyBytes: number
  readonly salt: Uint8Array
  /** As in the gateway's call ids: 0 to 15; two gateways that write to one file at the same time need different ones. */
  readonly idBits: number
  /** Most bytes of feed that the main thread has not answered; beyond it records are left out of the feed and counted. */
  readonly fedBytesLimit: number
  /** The file gets records. */
  readonly enabled: boolean
  /** The feed has readers. */
  readonly fed: boolean
}

/** The questions to the thread, answered in this order. */
export type PayloadQuestion = { readonly kind: 'recent'; readonly limit: number } | { readonly kind: 'clear' }

/** A record on its way to the thread, or the start of a call for the feed. */
export type SentRecord =
  | ({ readonly kind: 'started' } & Pick<RawRequest, 'callId' | 'wallTimeMs' | 'method' | 'path'>)
  | ({ readonly kind: 'request'; readonly keeping: Keeping } & RawRequest)
  | ({ readonly kind: 'answer'; readonly keeping: Keeping } & RawAnswer)

/**
 * Several records: their JSON text, in which `bytes` is a length, and their bodies, one after the other. A structured clone
 * of the same objects takes several times as long.
 */
export interface RecordBatch {
  readonly records: string
  readonly bodies: ArrayBuffer
}

/** The records of a batch, in order; their bytes are views of the batch. */
export function* recordsOf({ records, bodies }: RecordBatch): Generator<SentRecord> {
  let at = 0
  for (const record of JSON.parse(records)) {
    record.bytes = Buffer.from(bodies, at, record.bytes)
    at += record.bytes.length
    yield record
  }
}

/** To the raw log's thread. */
export type ToPayloadWorker =
  /** Answered by a `taken`. */
  | ({ readonly kind: 'batch' } & RecordBatch)
  /** The state from now on. */
  | ({ readonly kind: 'mode' } & Pick<PayloadSettings, 'enabled' | 'fed'>)
  | (PayloadQuestion & { readonly question: number })
  /** The number of bytes of feed that have reached their listeners. */
  | { readonly kind: 'fed'; readonly bytes: number }
  | { readonly kind: 'close' }

/** From the raw log's thread. */
export type FromPayloadWorker =
  /** `dropped`: records that could not be kept since the last `taken`. */
  | { readonly kind: 'taken'; readonly dropped: number }
  /** The bytes of events, one after the other; `seq` is null for the start of a call. `lost`: records that were left out before. */
  | {
      readonly kind: 'feed'
      readonly bytes: Uint8Array
      readonly events: readonly { readonly seq: number | null; readonly length: number }[]
      readonly lost: number
    }
  /** To the question of this number; `trouble` says why it could not be done. */
  | {
      readonly kind: 'answer'
      readonly question: number
      readonly json: Uint8Array
      readonly trouble: string | null
    }
  /** The file could not be written: it gets no records until it is switched on again. */
  | { readonly kind: 'trouble'; readonly message: string }
  | { readonly kind: 'closed' }
