import type { StoredCall } from './call-record.ts'
import type { RecordFields } from './call-fields.ts'

/** What a call asks for. `other` is every forwarded path that fits none of the named kinds. */
export type CallType = RecordFields['callType']

/** What is known of a call when its head has been read. Its id is explained in `call-id.ts`. */
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

/** What is known of a call before the upstream can see it, and stays known of one that is cut off. */
export type CallStart = Call & Pick<StoredCall, 'model' | 'stream' | 'upstream' | 'requestBytes'>
