import type { StoredCall } from './call-record.ts'
import type { RecordFields } from './fields/call-fields.ts'

/** The kinds of calls. `other` is every forwarded path of no other kind. */
export type CallType = RecordFields['callType']

/** The facts of a call once its head is read. `call-id.ts` explains its id. */
export type Call = Pick<
  StoredCall,
  | 'id'
  | 'callType'
  | 'endpoint'
  | 'method'
  | 'client'
  | 'userAgent'
  | 'session'
  | 'sessionSource'
  | 'tags'
  | 'keyFingerprint'
  | 'clientRetry'
>

/** The fields that are known before a call is sent. The row `interrupted` has only these. */
export type CallStart = Call & Pick<StoredCall, 'model' | 'stream' | 'upstream' | 'requestBytes'>
