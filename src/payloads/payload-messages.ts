import type { Keeping } from './copy/capture-rule.ts'
import type { RawAnswer, RawRequest } from './record/raw-payload.ts'

/** The settings that the raw log's thread starts with. */
export interface PayloadSettings {
  /**
   * The path of the active file, such as `logger/payloads.jsonl`. Full segments are beside it. The first
   * write creates the folder.
   */
  readonly filePath: string
  /** Bytes of a segment after which a new one begins. */
  readonly segmentBytes: number
  /** Most bytes of all segments together. Beyond that, the oldest segment is deleted. */
  readonly totalBytes: number
  readonly maxBodyBytes: number
  readonly salt: Uint8Array
  /**
   * The instance number, as in the gateway's call ids. Gateways that write to one file at the same time need
   * different numbers.
   */
  readonly idBits: number
  /**
   * Most bytes of the feed that the main thread has not acknowledged. Further records are left out of the
   * feed, and counted.
   */
  readonly fedBytesLimit: number
  /** True if the file gets records. */
  readonly enabled: boolean
  /** True if the feed has readers. */
  readonly fed: boolean
}

/** Questions to the thread, which are answered in order. */
export type PayloadQuestion = { readonly kind: 'recent'; readonly limit: number } | { readonly kind: 'clear' }

/** A record on its way to the thread, or the start of a call for the feed. */
export type SentRecord =
  | ({ readonly kind: 'started' } & Pick<RawRequest, 'callId' | 'wallTimeMs' | 'method' | 'path'>)
  | ({ readonly kind: 'request'; readonly keeping: Keeping } & RawRequest)
  | ({ readonly kind: 'answer'; readonly keeping: Keeping } & RawAnswer)

/**
 * Several records: their JSON text, in which `bytes` is the length of a body, and their bodies in a row. A
 * structured clone of the same objects takes several times as long.
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
  /** A batch of records. The thread answers with `taken`. */
  | ({ readonly kind: 'batch' } & RecordBatch)
  /** The state from now on. */
  | ({ readonly kind: 'mode' } & Pick<PayloadSettings, 'enabled' | 'fed'>)
  | (PayloadQuestion & { readonly question: number })
  /** Acknowledges bytes of the feed. */
  | { readonly kind: 'fed'; readonly bytes: number }
  | { readonly kind: 'close' }

/** From the raw log's thread. */
export type FromPayloadWorker =
  /** `dropped`: records that could not be kept since the last `taken`. */
  | { readonly kind: 'taken'; readonly dropped: number }
  /**
   * Events of the feed, with their bytes in a row. `seq` is null for the start of a call. `lost`: records
   * that were left out before.
   */
  | {
      readonly kind: 'feed'
      readonly bytes: Uint8Array
      readonly events: readonly { readonly seq: number | null; readonly length: number }[]
      readonly lost: number
    }
  /** The answer to a question. `trouble`: why it failed, or null. */
  | {
      readonly kind: 'answer'
      readonly question: number
      readonly json: Uint8Array
      readonly trouble: string | null
    }
  /** The file could not be written, and gets no records until logging is switched on again. */
  | { readonly kind: 'trouble'; readonly message: string }
  | { readonly kind: 'closed' }
