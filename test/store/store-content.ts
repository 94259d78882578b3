import type { StoreReader } from '../../src/call/call-reader.ts'
import type { CallRecord } from '../../src/call/call-record.ts'
import type { GatewayEvent, GatewayMinute } from '../../src/call/call-sink.ts'
import { bareCall, chatCall, fullCall, idAt } from './sample-call.ts'

/** What is in a store. */
export interface StoreContent {
  readonly calls: readonly CallRecord[]
  readonly minutes?: readonly GatewayMinute[]
  readonly events?: readonly GatewayEvent[]
}

/** A store with that content, open for reading. */
export type OpenStore = (content: StoreContent) => Promise<AsyncDisposable & { readonly reader: StoreReader }>

export const trace = '4bf92f3577b34da6a3ce929d0e0e4736'

/** In the order of their ends, which is another than that in which they began. */
export const fiveCalls: StoreContent = {
  calls: [
    {
      ...chatCall(idAt(2)),
      model: 'b',
      traceId: trace,
      session: 'run',
      tags: 'env:prod,user:x',
      source: 'litellm',
      upstreamRequestId: 'chatcmpl-b',
    },
    fullCall(idAt(1)),
    bareCall(idAt(3)),
    { ...chatCall(idAt(5)), outcome: 'client_disconnected', traceId: trace, tags: 'env:dev,user:x' },
    {
      ...chatCall(idAt(4)),
      callType: 'embedding',
      outcome: 'upstream_cut',
      session: 'run',
      tags: 'env:prod',
    },
  ],
}
