/** The parent's command to the benchmarks' upstream: the pace of every open stream from now on. */
export interface UpstreamCommand {
  readonly eventsPerStreamS: number
}

export type UpstreamReport = { readonly listening: number } | { readonly openStreams: number }

/** The parent's commands to the load generator. */
export type LoadCommand =
  /** Calls without a pause on `clients` connections: first to warm up, then counted. */
  | {
      readonly do: 'calls'
      readonly port: number
      readonly clients: number
      readonly warmMs: number
      readonly ms: number
      /** A ceiling of the rate, all clients together. */
      readonly maxPerS: number
      /** Calls come at that rate, whether answers come or not; a wait begins when its call is due. */
      readonly isFixedRate?: boolean
      /** Prompt and answer of about 2 kB. */
      readonly large?: boolean
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Streams that end, one after the other on each of `clients` connections; whole ones are counted. */
  | {
      readonly do: 'streams'
      readonly port: number
      readonly clients: number
      readonly events: number
      /** Between the first requests of two clients, so that not all streams end together. */
      readonly apartMs: number
      readonly warmMs: number
      readonly ms: number
    }
  /** Opens event streams and keeps them. */
  | {
      readonly do: 'open'
      readonly port: number
      readonly streams: number
      readonly headers?: Readonly<Record<string, string>>
      /** Whether an event's wait begins with its write by the upstream, in place of the event before it. */
      readonly fromWrite?: boolean
    }
  /** Counts the events on the open streams from now on. */
  | { readonly do: 'count'; readonly ms: number }
  | { readonly do: 'close' }

/** The load generator's reports. */
export type LoadReport =
  | { readonly ready: true }
  /** The warm-up is over: counting begins. */
  | { readonly counting: true }
  | {
      readonly counted: number
      readonly reads: number
      readonly elapsedMs: number
      readonly failed: number
      /** Of each answer since its request was sent or due; of each event as `open` asked for it. */
      readonly waitsMs: readonly number[]
    }
  | { readonly open: number; readonly failed: number }
  | { readonly closed: true }

/** The parent's commands to the pages. */
export type PagesCommand =
  | { readonly do: 'poll'; readonly url: string; readonly pages: number; readonly everyMs: number }
  | { readonly do: 'stop' }

export type PagesReport =
  | { readonly ready: true }
  | { readonly answersMs: readonly number[]; readonly failed: number }

/** The parent's commands to the readers of the live feed; `stuck` of them never read. */
export type FeedReadersCommand =
  | { readonly do: 'open'; readonly port: number; readonly readers: number; readonly stuck: number }
  | { readonly do: 'close' }

export type FeedReadersReport = { readonly opened: number } | { readonly readBytes: number }
