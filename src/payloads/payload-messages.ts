import type { CaptureRule } from './tap/capture-rule.ts'
import type { SealedBatch } from './tap/tap-batch.ts'

/** The settings that the payload log's thread starts with. */
export interface PayloadSettings {
  /** The path of the active file, e.g. `logger/payloads.jsonl`; full segments lie beside it. The folder is made at the first write. */
  readonly filePath: string
  /** A segment of this size is followed by a new one. */
  readonly segmentBytes: number
  /** Most bytes of all segments together: the oldest is deleted beyond it. */
  readonly totalBytes: number
  readonly maxBodyBytes: number
  readonly capture: CaptureRule
  readonly salt: Uint8Array
  /** As the gateway's call ids have them: 0 to 15; must differ between two gateways that write to one file at the same time. */
  readonly idBits: number
  /** Bytes of feed that the main thread has not taken yet; beyond it records are left out of the feed and counted. */
  readonly fedBytesLimit: number
  readonly enabled: boolean
  readonly fed: boolean
}

/** The questions to the thread, answered in this order. */
export type PayloadQuestion = { readonly kind: 'recent'; readonly limit: number } | { readonly kind: 'clear' }

/** To the payload log's thread. */
export type ToPayloadWorker =
  /** Answered by a `taken`, which gives the buffer back. */
  | ({ readonly kind: 'batch' } & SealedBatch)
  /** The rule from now on: whether the file gets records, of which calls, and whether the feed has readers. */
  | ({ readonly kind: 'mode' } & Pick<PayloadSettings, 'enabled' | 'fed' | 'capture'>)
  | (PayloadQuestion & { readonly question: number })
  /** So many bytes of feed have reached their listeners. */
  | { readonly kind: 'fed'; readonly bytes: number }
  | { readonly kind: 'close' }

/** From the payload log's thread. */
export type FromPayloadWorker =
  | {
      readonly kind: 'taken'
      readonly bytes: ArrayBuffer
      /** Records since the last of these that could not be kept. */
      readonly dropped: number
      /** Bytes in the thread of calls that have not ended. */
      readonly heldBytes: number
    }
  /** The bytes of events, one after the other; `seq` is null of what is no record. `lost`: records that were left out before. */
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
  /** The file could not be written: nothing is kept until it is switched on again. */
  | { readonly kind: 'trouble'; readonly message: string }
  | { readonly kind: 'closed' }
